/**
 * The PipeCD simulator for `npm run demo -- pipecd`, in the cluster of KUBECONFIG. Its servers answer wherever kwok reports
 * their pods as running, and its pipeds connect to them and watch events. It prints lines of JSON: first its addresses, then
 * each commit and each deployment of a piped. It runs until SIGTERM or SIGINT and then shuts down in order.
 */
import { once } from "node:events";
import { Command, Option } from "commander";
import { kubeClient, loadKubeconfig, openConnection } from "denrei/kubernetes";
import { eventRepositories } from "./eventrepository.ts";
import { startPipecdPods } from "./pods.ts";

/** Options of the command. */
interface Options {
  readonly kubeconfig: string;
}

const options = new Command("pipecd")
  .description("simulate PipeCD's servers and pipeds whose pods a cluster reports as running")
  .addOption(
    new Option("--kubeconfig <path>", "kubeconfig with administrator permissions")
      .env("KUBECONFIG")
      .makeOptionMandatory(),
  )
  .parse()
  .opts<Options>();

// Listen for signals first, so that none interrupts the setup without a cleanup.
const ended = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
const connection = await openConnection(loadKubeconfig({ path: options.kubeconfig }));
const { web, api, stop } = await startPipecdPods({
  client: kubeClient(connection),
  repositories: eventRepositories(),
  eventMillis: 500,
  report: (did) => process.stdout.write(`${JSON.stringify({ did })}\n`),
});
process.stdout.write(`${JSON.stringify({ web, api })}\n`);
await ended;
await stop();
await connection.close();
