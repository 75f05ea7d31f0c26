/** A thousand opted-in namespaces: the cost of their watches for the bus and the bridge, and the time to take over all of them. */
import { watchNamespaces } from "../../bench/scale/namespaces.ts";
import { quietMillis } from "../../bench/scale/settings.ts";
import { bounded, figure, type Scenario } from "../scenario.ts";

const limits = { writesPerSecond: 50, megabytes: 250 };
const leastSize = 20;

export const namespaces: Scenario = {
  number: 14,
  name: "namespaces",
  title:
    "A thousand opted-in namespaces with a Secret watch each: writes and memory while idle, a change in each, and a takeover by a second bridge.",
  promise: "1,000 watched namespaces need at most 250 MB and 50 idle writes per s",
  fullMinutes: 6,
  tested: "nightly",
  async run(trial) {
    const size = trial.scaled(1000, leastSize);
    const found = await watchNamespaces(size, trial.scaled(quietMillis, 3000), trial);
    const { memory } = found;
    return {
      injected: [`${figure(size)} opted-in namespaces with a Secret each`, "kill -9 of the leading bridge"],
      checks: [
        bounded("bus writes while idle", found.writesPerSecond, "<=", limits.writesPerSecond, "per s"),
        bounded("bridge memory, garbage collected", memory.collected, "<=", limits.megabytes, "MB"),
        bounded("Secret events: an add and two changes each", found.events, "=", 3 * size, ""),
        bounded("lists by the second bridge", found.lists, "=", 0, ""),
      ],
      figures: [
        {
          what: "bridge memory before collection, and peak",
          found: `${figure(memory.uncollected)} and ${figure(memory.peak)} MB`,
        },
        { what: "bridge start to all watched", found: `${figure(found.startSeconds)} s` },
        {
          what: "kill to all watched by the second bridge",
          found: `${figure(found.takeoverSeconds)} s`,
        },
        { what: "a change in each, to the last publish", found: `${figure(found.changeSeconds)} s` },
      ],
    };
  },
};
