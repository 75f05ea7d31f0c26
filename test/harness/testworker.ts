/** Workers in the process of the test, for objects of the cluster `test`. */
import { pino } from "pino";
import { Registry } from "prom-client";
import { startWorker, type Worker, type WorkerOptions } from "../../bus/worker/worker.ts";
import { clientOfNobody } from "./clients.ts";

/** Options of a worker. */
export interface TestWorkerOptions
  extends Pick<WorkerOptions, "bus" | "busOptions" | "functions">,
    Partial<Pick<WorkerOptions, "client" | "registry" | "replica" | "retries">> {}

/** Starts a worker, which logs nothing. Its replica defaults to `replica-1`, and its client to one that reaches no API server. */
export const startTestWorker = async (options: TestWorkerOptions): Promise<Worker> =>
  startWorker({
    ...options,
    client: options.client ?? (await clientOfNobody()),
    cluster: "test",
    replica: options.replica ?? "replica-1",
    log: pino({ level: "silent" }),
    registry: options.registry ?? new Registry(),
  });
