/** What is not there, and comes back: the bus's disk, the bus, the API server, the validity of a certificate. */
import { absentAtStart } from "../outages/absent.ts";
import { startStage, together } from "../outages/act.ts";
import { clientExpires, serverExpired } from "../outages/expired.ts";
import { busExpires } from "../outages/expiredbus.ts";
import { diskFull, limitReached } from "../outages/fulldisk.ts";
import type { Outcome, Scenario } from "../scenario.ts";

export const outages: Scenario = {
  number: 8,
  name: "outages",
  title:
    "The bus has no room left, bus and API server are not there at the start, certificates have expired: processes say so, wait, and lose nothing.",
  fullMinutes: 4,
  tested: "always",
  async run(trial) {
    const objects = trial.scaled(200, 10);
    const large = trial.scaled(150, 45);
    /** Most of it is waiting, so the two go on side by side. */
    const servers = async (): Promise<Outcome[]> => {
      const kit = await startStage(trial);
      const absent = await absentAtStart(trial, kit, objects);
      const client = await clientExpires(trial, kit, objects);
      const bus = await busExpires(trial, kit, objects);
      await kit.stop();
      return [absent, client, bus];
    };
    const disk = async (): Promise<Outcome[]> => [
      await limitReached(trial, large),
      await serverExpired(trial),
    ];
    const acts = (await Promise.all([servers(), disk()])).flat();
    // The real thing takes its time: at the smallest size the limit stands for it.
    const real = objects > 10 ? await diskFull(trial, large) : "omitted";
    if (real === undefined) {
      const found = "not possible: this process may not mount a file system of its own";
      acts.push({ injected: [], checks: [], figures: [{ what: "disk full (ENOSPC)", found }] });
    } else if (real !== "omitted") acts.push(real);
    return together(acts);
  },
};
