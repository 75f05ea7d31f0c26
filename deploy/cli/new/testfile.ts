/** The test of a new function. */
import { posix } from "node:path";
import type { Layout } from "../layout.ts";
import { importLines } from "./reconciler.ts";
import type { Scaffold } from "./scaffold.ts";
import { hasOwnStatus } from "./subject.ts";

/** The first run downloads or builds the control plane. Milliseconds. */
const setupMillis = "1_200_000";
const testMillis = "120_000";

/** The values of its template. `crdPath` is the CRD of a kind of another project. */
export function testValues(
  { name, subject, label, owns, watches }: Scaffold,
  layout: Layout,
  crdPath: string | undefined,
): Readonly<Record<string, string>> {
  const path = layout.testOf(name);
  const from = (file: string) => posix.relative(posix.dirname(path), file).replace(/^(?!\.)/, "./");
  const isOurs = layout.origin === "repository";
  const defined = [...owns, ...watches].filter(({ kind }) => kind.definition !== undefined);
  const own = hasOwnStatus(subject);
  const { name: kind, scope } = subject;
  // Without the list, the run installs the kinds of the function.
  const crds = crdPath && [`new URL("${from(crdPath)}", import.meta.url)`, ...defined.map((one) => one.name)];
  return {
    name,
    Kind: kind,
    imports: importLines(path, [
      { name: "type Ket", module: isOurs ? "test/ket/index.ts" : "@denrei/test" },
      { name: "startKet", module: isOurs ? "test/ket/index.ts" : "@denrei/test" },
      ...["afterAll", "beforeAll", "test"].map((one) => ({ name: one, module: "vitest" })),
      ...(isOurs ? [{ name: "testCluster", module: "test/harness/platforms.ts" }] : []),
      subject,
      ...(crds ? defined : []),
    ]),
    cluster: isOurs ? "    ...(await testCluster())," : "",
    cases: from(layout.casesOf(name)),
    crds: crds ? `    crds: [${crds.join(", ")}],` : "",
    setup: isOurs ? "});" : `}, ${setupMillis});`,
    limit: isOurs ? "" : `{ timeout: ${testMillis} }, `,
    first: own ? `copies the message of the first ${kind}` : `marks the first ${kind}`,
    second: own ? "copies a changed message" : "restores the label",
    at: scope === "Cluster" ? '{ name: "first" }' : '{ namespace: ket.namespace, name: "first" }',
    change: own ? '{ spec: { message: "Goodbye" } }' : `{ metadata: { labels: { "${label}": null } } }`,
    expected: own ? '{ status: { said: "Goodbye" } }' : `{ metadata: { labels: { "${label}": "seen" } } }`,
  };
}
