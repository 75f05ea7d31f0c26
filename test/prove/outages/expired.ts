/** Certificates that expire: the client's while everything runs, and the API server's. */

import { writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startLocalNats } from "../../../deploy/local/index.ts";
import { kubeconfigText } from "../../../deploy/local/kubeconfig.ts";
import { createCertificateAuthority } from "../../../deploy/local/pki.ts";
import { Probe } from "../../fixtures/functions/probe.ts";
import { type OwnTestEnvironment, startReplica } from "../../harness/environment.ts";
import type { Outcome, Trial } from "../scenario.ts";
import { errorsOf, mentions, probePath, put, settled, untilReadiness } from "./outage.ts";

/** Validity of the first certificate: long enough to start all processes on a busy machine. */
const validMillis = 30_000;
const user = "operator";
const groups = ["system:masters"];

/** The client's certificate expires, objects change, and the file gets a new one; no process is restarted. */
export async function clientExpires(
  trial: Trial,
  environment: OwnTestEnvironment,
  objects: number,
): Promise<Outcome> {
  const expires = new Date(Date.now() + validMillis);
  const kubeconfig = await environment.platform.kubeconfigFor(user, groups, { to: expires });
  // An open watch stays open; only the next one is refused.
  const env = { KUBECONFIG: kubeconfig, DENREI_WATCH_SECONDS: "2" };
  const replicas = await Promise.all([
    environment.bridge("bridge-2", { args: [probePath], env }),
    environment.worker("worker-2", [probePath], { env }),
  ]);
  const [bridge] = replicas;
  const before = await environment.list(Probe);
  const desired = new Map(before.map(({ metadata, spec }) => [metadata.name, spec.value ?? 0]));
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, expires.getTime() + 1500 - Date.now())));
  trial.say("the client certificate has expired");
  const late = await environment.worker("worker-3", [probePath], { env, until: "serving" });
  for (let i = 0; i < objects; i++) {
    await put(environment, `expired-${i}`, i);
    desired.set(`expired-${i}`, i);
  }
  const [refused, waiting] = await Promise.all([
    untilReadiness(bridge, ({ status }) => status === 503),
    untilReadiness(late, ({ status, text }) => status === 503 && text.includes("401")),
  ]);
  await environment.platform.kubeconfigFor(user, groups);
  trial.say("the file has a new certificate");
  const all = [...replicas, late];
  await Promise.all(all.map((replica) => untilReadiness(replica, ({ status }) => status === 200)));
  const checks = await settled(environment, "client certificate expired", desired);
  await Promise.all(all.map((replica) => replica.stop()));
  return {
    injected: ["client certificate expired, then replaced in the kubeconfig"],
    checks: [
      mentions("client certificate expired: bridge readiness", "401 Unauthorized", refused.text),
      mentions(
        "client certificate expired: new worker's readiness",
        "Check the user of the kubeconfig's current context",
        waiting.text,
      ),
      ...checks,
    ],
  };
}

/** A worker meets a server with an expired certificate: it reports it, waits, and proceeds after the renewal. */
export async function serverExpired(trial: Trial): Promise<Outcome> {
  const local = await startLocalNats();
  trial.defer(() => local.stop());
  const authority = createCertificateAuthority();
  const names = ["127.0.0.1"];
  const expired = authority.server(names, { to: new Date(Date.now() - 60_000) });
  // The simulated server only has to respond: 403 shows that it authenticated the worker.
  const server = createServer({ ...expired }, (_, response) => response.writeHead(403).end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  trial.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const path = join(local.directory, "expired-server.kubeconfig");
  const text = kubeconfigText({
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: authority.cert,
    user,
    credentials: authority.client({ user }),
  });
  await writeFile(path, text, { mode: 0o600 });
  const env = { KUBECONFIG: path };
  const worker = await startReplica(local, "worker-1", ["worker", probePath], { env, until: "serving" });
  const refused = await untilReadiness(worker, ({ status, text }) => status === 503 && text.includes("CERT"));
  server.setSecureContext(authority.server(names));
  const ready = await untilReadiness(worker, ({ status }) => status === 200);
  const errors = errorsOf(worker);
  await local.stop();
  return {
    injected: ["API server certificate expired, then renewed"],
    checks: [
      mentions(
        "API server certificate expired: worker readiness",
        "its certificate has expired",
        refused.text,
      ),
      mentions("API server certificate renewed: worker readiness", "ok", ready.text),
      mentions(
        "API server certificate expired: logged error",
        "Renew the API server's certificate",
        String(errors[0]?.msg),
      ),
    ],
  };
}
