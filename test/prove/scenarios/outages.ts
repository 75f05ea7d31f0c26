/** Missing dependencies that come back: disk space of the bus, the bus, the API server, valid certificates. */
import { absentAtStart } from "../outages/absent.ts";
import { clientExpires, serverExpired } from "../outages/expired.ts";
import { busExpires } from "../outages/expiredbus.ts";
import { diskFull, limited, limitReached } from "../outages/fulldisk.ts";
import { mergeOutcomes, startProbeEnvironment } from "../outages/outage.ts";
import type { Scenario } from "../scenario.ts";

const leastObjects = 10;

export const outages: Scenario = {
  number: 8,
  name: "outages",
  title:
    "The bus is full, bus and API server are unreachable at startup, or certificates have expired: processes report it, wait, and lose nothing. After ENOSPC, the disk is enlarged and nats-server restarted.",
  promise: "processes report a missing dependency, wait, and lose nothing",
  fullMinutes: 4,
  tested: "always",
  async run(trial) {
    const objects = trial.scaled(200, leastObjects);
    const large = trial.scaled(150, 45);
    const isLeast = objects === leastObjects;
    const environment = await startProbeEnvironment(trial, limited);
    const outcomes = [
      await limitReached(trial, environment, large, isLeast ? 1 : 2),
      await absentAtStart(trial, environment, objects),
      await clientExpires(trial, environment, objects),
      await busExpires(trial, environment, objects),
    ];
    await environment.stop();
    // test/cli/servers.test.ts covers it as well.
    if (!isLeast) outcomes.push(await serverExpired(trial));
    // A real full disk takes long, so at the smallest size JetStream's limit replaces it.
    const real = isLeast ? "omitted" : await diskFull(trial, large);
    if (real === undefined) {
      const found = "not possible: this process may not mount a file system of its own";
      outcomes.push({ injected: [], checks: [], figures: [{ what: "disk full (ENOSPC)", found }] });
    } else if (real !== "omitted") outcomes.push(real);
    return mergeOutcomes(outcomes);
  },
};
