"""The examples in the help of each command."""

EXAMPLES = {
    "extract": """
  recibo extract lunch.jpg                          one JSON object on stdout
  recibo extract receipts/ 'mail/**/*.pdf'          a folder, and what a pattern matches
  recibo extract --format table receipts/           a table for people
  recibo extract --format csv receipts/ > all.csv   for a spreadsheet
  recibo extract --output json/ receipts/           a JSON file for each document
  recibo extract --rename '{issued_at:%Y-%m-%d} {merchant_name} {total}' --dry-run receipts/
                                                    what would be renamed, and how
  cat lunch.jpg | recibo extract -                  from another program
""",
    "upload": """
  RECIBO_API_KEY=sk_live_... recibo upload receipts/ --server https://recibo.example.com
  recibo upload lunch.jpg | jq .total               on this machine, with the key exported
""",
    "watch": """
  recibo watch ~/Scans                              results next to the documents
  recibo watch ~/Scans --output ~/Receipts          results in another folder
  recibo watch ~/Scans --server https://recibo.example.com    uploads instead
  recibo watch /mnt/share --poll --settle 10        a network drive with slow writers
""",
    "mcp": """
  recibo mcp ~/Receipts                             on stdin and stdout, as most clients start it
  recibo mcp ~/Receipts ~/Invoices --allow-writes   the agent may correct what was read
  recibo mcp ~/Receipts --server https://recibo.example.com   the receipts of a server
  recibo mcp ~/Receipts --http                      on http://127.0.0.1:8765/mcp
""",
    "completion": """
  recibo completion bash > ~/.local/share/bash-completion/completions/recibo
  recibo completion zsh > ~/.zfunc/_recibo
  recibo completion fish > ~/.config/fish/completions/recibo.fish
""",
    "serve": """
  recibo serve                                      on http://127.0.0.1:8000
  recibo serve --host 0.0.0.0 --port 9000           for other machines
  recibo serve --no-worker                          where `recibo worker` runs elsewhere
""",
    "worker": """
  RECIBO_DATABASE_URL=postgresql://recibo@db/recibo RECIBO_REDIS_URL=redis://redis/0 recibo worker
""",
    "migrate": """
  recibo migrate                                    the database of RECIBO_DATABASE_URL
""",
    "backup": """
  recibo backup /backups/2026-06-09
""",
    "restore": """
  RECIBO_DATA_DIR=/srv/recibo recibo restore /backups/2026-06-09
""",
    "admin": """
  recibo admin create-org 'Aurora Ltda' --owner ana@example.com
  recibo admin create-key aurora-ltda --scope read
  recibo admin set-plan aurora-ltda scale
  recibo admin reset-2fa ana@example.com
""",
}
