/** `startKet` with processes that start faster: for this repository's tests. */
import { type Ket, type KetOptions, startKet as start } from "../ket/index.ts";
import { startKetReplica } from "./environment.ts";

export const startKet = (options: KetOptions = {}): Promise<Ket> =>
  start({ startProcess: startKetReplica, ...options });
