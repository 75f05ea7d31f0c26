/**
 * kpack for demos, played by that of the tests, in the cluster of KUBECONFIG. Once there is the ClusterBuilder `default` and it
 * is ready, it says so in a line of JSON on standard output. It runs until SIGTERM or SIGINT, which it ends in order.
 */
import { once } from "node:events";
import { Command, Option } from "commander";
import { kubeClient } from "../../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../../bus/kube/connection.ts";
import { startKpack } from "./kpack.ts";

/** What a demo asks for. */
interface Options {
  readonly kubeconfig: string;
  readonly stepMillis: number;
  readonly builder: string;
}

const options = new Command("kpack")
  .description("play kpack, with a ClusterBuilder that is ready")
  .addOption(new Option("--kubeconfig <path>", "an administrator's").env("KUBECONFIG").makeOptionMandatory())
  .option("--step-millis <milliseconds>", "how long each step of a build takes", Number, 300)
  .option("--builder <name>", "the ClusterBuilder's name", "default")
  .parse()
  .opts<Options>();

// Before anything is there that would have to be put in order.
const ended = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
const connection = await openConnection(loadKubeconfig({ path: options.kubeconfig }));
const kpack = await startKpack({
  client: kubeClient(connection),
  stepMillis: options.stepMillis,
  log: (line) => process.stderr.write(`${line}\n`),
});
await kpack.builder(options.builder, "ready");
process.stdout.write(`${JSON.stringify({ builder: { kind: "ClusterBuilder", name: options.builder } })}\n`);
await ended;
await kpack.stop();
await connection.close();
