import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/** An import on a connection that is kept alive, of which the server has seen all but the last bytes. */
export async function beginImport(url: string, token: string): Promise<{ finish(): Promise<unknown> }> {
  const urls = { featured_image: "https://shop.example/late.jpg", url: "https://shop.example/late" };
  const body = JSON.stringify({ product: { id: "late", sku: "L-1", title: "Late", available: true, ...urls } });
  const headers = {
    "x-service-access-token": token,
    "content-type": "application/json",
    "content-length": body.length,
  };
  const agent = new Agent({ keepAlive: true });
  const call = request(`${url}/external/product/v1`, {
    method: "POST",
    agent,
    headers: { ...headers, expect: "100-continue" },
  });
  const [begun, answered] = [once(call, "continue"), once(call, "response")];
  answered.catch(() => undefined); // a server that is killed answers nothing
  call.flushHeaders();
  await begun; // the server has the request
  call.write(body.slice(0, 20));
  return {
    async finish() {
      call.end(body.slice(20));
      const [response] = (await answered) as [IncomingMessage];
      return JSON.parse(await text(response));
    },
  };
}
