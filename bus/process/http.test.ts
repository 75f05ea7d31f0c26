/** Probes and metrics, as the kubelet and Prometheus request them. */
import { once } from "node:events";
import { connect } from "node:net";
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { startProbes } from "./http.ts";

test("answers probes while another pod opens more connections than the limit", async () => {
  const { url, close } = await startProbes({
    address: "127.0.0.1:0",
    registry: new Registry(),
    notReady: () => undefined,
  });
  onTestFinished(close);
  const { port, hostname } = new URL(url);
  for (let n = 0; n < 150; n++) {
    const socket = connect({ port: Number(port), host: hostname });
    socket.on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
  }
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    const answer = await fetch(url + path, { headers: { connection: "close" } });
    expect([path, answer.status]).toEqual([path, 200]);
    const text = await answer.text();
    if (path === "/metrics") expect(text).toMatch(/cut_total\{server="probes",reason="displaced"\} [1-9]/);
  }
});
