import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openRelay, type Relay, type RelayOptions } from "./relay.ts";

/** More than the buffers of a connection hold. */
const long = "x".repeat(4 << 20);

/** Listens at any port, answers each request with the text, and closes the connection. */
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
    ...{ for: "tests", port: undefined, usualPort: 41_800, onChange: "keep" },
    ...options,
  });
  onTestFinished(() => opened.close());
  return opened;
}

const ask = async ({ port }: Relay): Promise<string> => (await fetch(`http://127.0.0.1:${port}`)).text();

test("forwards connections to the current target, and its answers in full", async () => {
  const opened = await relay();
  await expect(ask(opened)).rejects.toThrow("fetch failed");
  for (const text of [`one ${long}`, `two ${long}`]) {
    opened.forwardTo((await listener(text)).url);
    expect(await ask(opened)).toBe(text);
  }
  opened.forwardTo(undefined);
  await expect(ask(opened)).rejects.toThrow("fetch failed");
});

test("disconnects or keeps open connections when the target changes", async () => {
  for (const onChange of ["disconnect", "keep"] as const) {
    const opened = await relay({ onChange });
    const { server, url } = await listener("answered");
    opened.forwardTo(url);
    server.removeAllListeners("request");
    const asked = once(server, "request");
    const answer = ask(opened);
    const [, response] = await asked;
    opened.forwardTo((await listener("another")).url);
    response.end("late");
    if (onChange === "disconnect") await expect(answer).rejects.toThrow("fetch failed");
    else expect(await answer).toBe("late");
    expect(await ask(opened)).toBe("another");
  }
});

test("uses the next free port unless a port is required", async () => {
  const first = await relay();
  const second = await relay({ usualPort: first.port });
  expect(second.port).toBeGreaterThan(first.port);
  await expect(relay({ port: first.port })).rejects.toThrow(
    `cannot listen at port ${first.port} for tests: listen EADDRINUSE`,
  );
});
