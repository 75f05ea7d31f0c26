/** Our side: one gateway, and the bus. */
import { streams } from "../../../bus/subjects.ts";
import { ensureWebhooks } from "../../../bus/topology.ts";
import { pidOf, startProcess } from "../contender.ts";
import { profilerEnv, profilerSocket } from "../profiler/profiler.ts";
import { program } from "../program.ts";
import type { WebhookBenchEnvironment } from "./environment.ts";
import type { Receiver, RunningReceiver } from "./receiver.ts";

/** The bus as a single server. */
const busOptions = { replicas: 1, ackWaitMillis: 10_000 };

/** Our running processes. */
export interface RunningGateway extends RunningReceiver {
  /** Its profiler socket; without a profiler it does not exist. */
  readonly profiler: string;
}

/** `denrei gateway` on an empty bus. With a profiler, it can be profiled while it runs. */
export function gateway(
  environment: WebhookBenchEnvironment,
  profiler: "profiler" | "no profiler" = "no profiler",
) {
  const { bus, platform, secrets } = environment;
  return {
    name: "denrei",
    async start(label): Promise<RunningGateway> {
      await ensureWebhooks(bus, busOptions);
      const bundle = await program();
      let url = "";
      const child = await startProcess(environment, {
        name: `gateway-${label}`,
        role: "gateway",
        command: process.execPath,
        args: [...bundle.args, "gateway"],
        env: {
          ...bundle.env,
          DENREI_WEBHOOK_SECRETS: secrets,
          DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0",
          ...(profiler === "profiler" && profilerEnv(platform.directory)),
        },
        readyLine: /"msg":"gateway ready"/,
        onLine(line) {
          if (line.includes('"msg":"gateway ready"'))
            url = `${(JSON.parse(line) as { url: string }).url}/github/app`;
        },
      });
      return {
        url,
        profiler: profilerSocket(platform.directory, pidOf(child)),
        pids: new Map([
          ["gateway", pidOf(child)],
          ["nats-server", pidOf(platform.nats)],
        ]),
        kept: async () => (await bus.jsm.streams.info(streams.webhooks)).state.messages,
        async stop() {
          await child.stop();
          await bus.jsm.streams.delete(streams.webhooks);
        },
      };
    },
  } satisfies Receiver;
}
