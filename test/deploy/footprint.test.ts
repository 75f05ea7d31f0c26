/** The figures of docs/footprint.md are those of the manifests. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { amountOf } from "../../bus/kube/matchesdesired.ts";
import { functions } from "../../functions/index.ts";
import { isWorkload, type Manifest, root } from "./manifests.ts";
import { baseObjects, overlay } from "./overlays.ts";
import { printed } from "./projects.ts";

const page = readFileSync(join(root, "docs/footprint.md"), "utf8");
const gibibyte = 2 ** 30;

interface Sum {
  readonly pods: number;
  readonly cpu: number;
  readonly memory: number;
}

/** What the workloads request, of which some may be left out. */
function requestsOf(objects: readonly Manifest[], isCounted: (name: string) => boolean): Sum {
  let [pods, cpu, memory] = [0, 0, 0];
  for (const { spec } of objects.filter(isWorkload).filter(({ metadata }) => isCounted(metadata.name)))
    for (const [at, { resources }] of spec.template.spec.containers.entries()) {
      const { requests } = resources as { readonly requests?: Readonly<Record<string, string>> };
      if (at === 0) pods += spec.replicas;
      cpu += spec.replicas * (amountOf(requests?.cpu) ?? Number.NaN);
      memory += spec.replicas * (amountOf(requests?.memory) ?? Number.NaN);
    }
  return { pods, cpu, memory };
}

const shown = ({ pods, cpu, memory }: Sum): string =>
  [pods, Number(cpu.toFixed(2)), `${Number((memory / gibibyte).toFixed(2))} GiB`].join(" | ");

beforeAll(async () => {
  await baseObjects();
  // Without kubectl, kustomize may have to be built first.
}, 900_000);

test.for([
  { profile: "`small`", rendered: () => printed(["--profile", "small"]), worker: "denrei-worker" },
  { profile: "`standard` (the base)", rendered: baseObjects },
  { profile: "`production`", rendered: () => overlay("production") },
])(
  "the requests of $profile, with all functions and with one",
  async ({ profile, rendered, worker = "denrei-hikawa" }) => {
    const objects = await rendered();
    const one = new Set(["nats", "denrei-bridge", worker]);
    const all = shown(requestsOf(objects, () => true));
    expect(page).toContain(
      `| ${profile} | ${all} | ${shown(requestsOf(objects, (name) => one.has(name)))} |`,
    );
    expect(page).toContain(`for all ${functions.length} functions`);
  },
);
