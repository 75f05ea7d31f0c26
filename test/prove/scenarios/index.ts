/** Every scenario, in the order of docs/reliability.md. */
import type { Scenario } from "../scenario.ts";
import { bridgeChaos } from "./bridgechaos.ts";
import { cluster } from "./cluster.ts";
import { delays } from "./delays.ts";
import { failover } from "./failover.ts";
import { hot } from "./hot.ts";
import { many } from "./many.ts";
import { namespaces } from "./namespaces.ts";
import { outages } from "./outages.ts";
import { poison } from "./poison.ts";
import { queue } from "./queue.ts";
import { scale } from "./scale.ts";
import { takeover } from "./takeover.ts";
import { webhooks } from "./webhooks.ts";
import { zero } from "./zero.ts";

export const scenarios: readonly Scenario[] = [
  queue,
  bridgeChaos,
  takeover,
  delays,
  cluster,
  poison,
  hot,
  outages,
  scale,
  failover,
  zero,
  many,
  webhooks,
  namespaces,
];
