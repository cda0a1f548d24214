/** The client of Recibo, which reads receipts. */
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";
export type Receipt = components["schemas"]["Receipt"];
export type DetailedReceipt = components["schemas"]["DetailedReceipt"];
export type WebhookEvent = components["schemas"]["WebhookEvent"];

/** The client: `GET`, `POST`, `PATCH` and `DELETE`, each with the paths of the API. */
export type Recibo = Client<paths>;

export interface Options {
  /** Secret keys belong on servers; pages take a publishable one. */
  apiKey: string;
  /** For example https://recibo.example.com; without `/v1`. */
  baseUrl: string;
}

/** Return a client of one server with one API key. */
export function createRecibo({ apiKey, baseUrl }: Options): Recibo {
  const headers = { "X-API-Key": apiKey };
  return createClient<paths>({ baseUrl, headers, bodySerializer: serialized });
}

/** An upload becomes a form, everything else JSON. */
function serialized(body: unknown): BodyInit {
  const fields = Object.entries((body ?? {}) as Record<string, unknown>);
  if (!fields.some(([, value]) => value instanceof Blob)) {
    return JSON.stringify(body);
  }
  const form = new FormData();
  for (const [name, value] of fields) {
    if (value instanceof Blob) {
      form.append(name, value, "name" in value ? String(value.name) : "receipt");
    } else if (value !== undefined) {
      form.append(name, String(value));
    }
  }
  return form;
}
