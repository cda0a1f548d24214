// Run against a server: RECIBO_URL and RECIBO_API_KEY say which.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRecibo } from "../src/index.js";

const recibo = createRecibo({
  apiKey: process.env["RECIBO_API_KEY"] ?? "",
  baseUrl: process.env["RECIBO_URL"] ?? "",
});

test("a receipt is read, corrected, found and deleted", async () => {
  const { data: receipt, error } = await recibo.POST("/v1/extract", {
    body: {
      file: new Blob(["typescript"]),
      accuracy: "standard",
      metadata: JSON.stringify({ client: "typescript" }),
    },
  });
  assert.equal(error, undefined);
  assert.equal(receipt.status, "completed");
  const path = { receipt_id: receipt.id };

  const corrected = await recibo.PATCH("/v1/receipts/{receipt_id}", {
    params: { path },
    body: { total: "34.10", category: "restaurants", approved: true, version: receipt.version },
  });
  assert.equal(corrected.data?.total, "34.10");
  assert.equal(corrected.data?.review?.status, "approved");

  const found = await recibo.GET("/v1/receipts", {
    params: { query: { category: "restaurants", "metadata.client": "typescript" } },
  });
  assert.deepEqual(found.data?.data.map((one) => one.id), [receipt.id]);

  const detailed = await recibo.GET("/v1/receipts/{receipt_id}", {
    params: { path, query: { include: "evidence" } },
  });
  assert.equal(detailed.data?.evidence?.merchant_name?.page, 1);

  const deleted = await recibo.DELETE("/v1/receipts/{receipt_id}", { params: { path } });
  assert.equal(deleted.response.status, 204);
  const gone = await recibo.GET("/v1/receipts/{receipt_id}", { params: { path } });
  assert.equal(gone.error?.error.code, "not_found");
});

test("the compiler knows the paths, the fields and the values", async () => {
  // @ts-expect-error: there is no such path
  await recibo.GET("/v1/receipt");
  // @ts-expect-error: there is no such type of document
  await recibo.GET("/v1/receipts", { params: { query: { type: "napkin" } } });
  const { data } = await recibo.GET("/v1/key");
  // @ts-expect-error: there is no such field
  assert.equal(data?.color, undefined);
  assert.equal(data?.plan, "scale");
});
