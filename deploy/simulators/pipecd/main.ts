/**
 * PipeCD for `npm run demo -- pipecd`, played by that of the tests, in the cluster of KUBECONFIG: its servers answer where pods
 * of them run, as far as kwok is concerned, and its agents report there and watch events. It prints lines of JSON: where it listens, and
 * then each commit and each deployment of an agent.
 * It runs until SIGTERM or SIGINT, which it ends in order.
 */
import { once } from "node:events";
import { Command, Option } from "commander";
import { kubeClient } from "../../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../../bus/kube/connection.ts";
import { eventRepositories } from "./eventrepository.ts";
import { startPipecdPods } from "./pods.ts";

/** What a demo asks for. */
interface Options {
  readonly kubeconfig: string;
}

const options = new Command("pipecd")
  .description("play PipeCD's servers and agents, where a cluster says that their pods run")
  .addOption(new Option("--kubeconfig <path>", "an administrator's").env("KUBECONFIG").makeOptionMandatory())
  .parse()
  .opts<Options>();

// Before anything is there that would have to be put in order.
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
