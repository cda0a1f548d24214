// Receives the events of Recibo: RECIBO_WEBHOOK_SECRET=whsec_... npm start
import express from "express";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.RECIBO_WEBHOOK_SECRET);
const totals = new Map();
const app = express();

// The signature is of the bytes as they were sent, so the body is not parsed before.
app.post("/recibo", express.raw({ type: "application/json", limit: "2mb" }), (request, response) => {
  let event;
  try {
    event = webhook.verify(request.body, request.headers);
  } catch {
    response.sendStatus(401);
    return;
  }
  // The same event may come again, so store it by its receipt's id.
  const { receipt } = event.data;
  if (event.type === "receipt.completed") totals.set(receipt.id, `${receipt.total} ${receipt.currency}`);
  response.sendStatus(204);
});

app.get("/totals", (request, response) => {
  response.json(Object.fromEntries(totals));
});

const server = app.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`listens on http://127.0.0.1:${server.address().port}/recibo`);
});
