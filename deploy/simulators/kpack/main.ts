/**
 * The kpack simulator for demos, in the cluster of KUBECONFIG. Once its ClusterBuilder is ready, it prints one line of JSON to
 * standard output. It runs until SIGTERM or SIGINT and then shuts down in order.
 */
import { once } from "node:events";
import { Command, Option } from "commander";
import { kubeClient, loadKubeconfig, openConnection } from "denrei/kubernetes";
import { startKpack } from "./kpack.ts";

/** Options of the command. */
interface Options {
  readonly kubeconfig: string;
  readonly stepMillis: number;
  readonly builder: string;
}

const options = new Command("kpack")
  .description("simulate kpack with a ready ClusterBuilder")
  .addOption(
    new Option("--kubeconfig <path>", "kubeconfig with administrator permissions")
      .env("KUBECONFIG")
      .makeOptionMandatory(),
  )
  .option("--step-millis <milliseconds>", "duration of each build step", Number, 300)
  .option("--builder <name>", "name of the ClusterBuilder", "default")
  .parse()
  .opts<Options>();

// Listen for signals first, so that none interrupts the setup without a cleanup.
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
