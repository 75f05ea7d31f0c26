import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openRelay, type Relay, type RelayOptions } from "./relay.ts";

/** More than fits into what a connection buffers. */
const long = "x".repeat(4 << 20);

/** Listens at any port, and answers each request with a text, after which it hangs up. */
async function listener(text: string): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((_, response) => response.setHeader("connection", "close").end(text));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function relay(options: Partial<RelayOptions> = {}): Promise<Relay> {
  const opened = await openRelay({
    ...{ for: "tests", port: undefined, usualPort: 41_800, before: "left alone" },
    ...options,
  });
  onTestFinished(() => opened.close());
  return opened;
}

const ask = async ({ port }: Relay): Promise<string> => (await fetch(`http://127.0.0.1:${port}`)).text();

test("whoever comes is led to the listener of the moment, and hears all that it says", async () => {
  const opened = await relay();
  await expect(ask(opened)).rejects.toThrow("fetch failed");
  for (const text of [`one ${long}`, `two ${long}`]) {
    opened.lead((await listener(text)).url);
    expect(await ask(opened)).toBe(text);
  }
  opened.lead(undefined);
  await expect(ask(opened)).rejects.toThrow("fetch failed");
});

test("who is connected to the listener before is cut off, or left alone", async () => {
  for (const before of ["cut off", "left alone"] as const) {
    const opened = await relay({ before });
    const { server, url } = await listener("answered");
    opened.lead(url);
    server.removeAllListeners("request");
    const asked = once(server, "request");
    const answer = ask(opened);
    const [, response] = await asked;
    opened.lead((await listener("another")).url);
    response.end("late");
    if (before === "cut off") await expect(answer).rejects.toThrow("fetch failed");
    else expect(await answer).toBe("late");
    expect(await ask(opened)).toBe("another");
  }
});

test("without a port that must be, the next free one will do", async () => {
  const first = await relay();
  const second = await relay({ usualPort: first.port });
  expect(second.port).toBeGreaterThan(first.port);
  await expect(relay({ port: first.port })).rejects.toThrow(
    `expected a port for tests that can be listened at, found ${first.port}: listen EADDRINUSE`,
  );
});
