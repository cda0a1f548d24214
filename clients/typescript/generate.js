// Writes src/schema.ts, the types of the API, from openapi.json, which every server has at
// /openapi.json; `make clients` makes it without a server.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const BLOB = ts.factory.createTypeReferenceNode("Blob");
const here = new URL(".", import.meta.url);

const schema = JSON.parse(await readFile(new URL("openapi.json", here), "utf8"));
const types = await openapiTS(schema, {
  transform: (node) => (node.format === "binary" ? BLOB : undefined),
});
// A filter for each key; OpenAPI cannot say that.
const text = astToString(types).replaceAll('"metadata.<key>"?: string;', "[key: `metadata.${string}`]: unknown;");
await writeFile(new URL("src/schema.ts", here), text);
