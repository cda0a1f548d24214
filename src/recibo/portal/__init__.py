"""The portal: server-rendered pages that work without JavaScript."""
