/** A further project on the bus of another one: what both print, and whether it fits together. */
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { find, isWorkload, type Manifest, type Workload } from "./manifests.ts";
import { allows, type Place } from "./network.ts";
import { parcels, printed, runIn } from "./projects.ts";
import { furtherArgs, twoProjects, withUsersFile } from "./twoprojects.ts";

const bus = "tls://nats.denrei:4222";
/** The further project's pods that use the bus. */
const clients = ["denrei-bridge", "denrei-labels", "denrei-post"];

let ofBus: Manifest[];
let further: Manifest[];
beforeAll(async () => {
  [ofBus, further] = await twoProjects("production");
  // Without kubectl, kustomize may have to be built first.
}, 900_000);

const secretsIn = (objects: readonly Manifest[], namespace: string): string[] =>
  objects
    .filter(({ kind, metadata }) => kind === "Secret" && metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name)
    .sort();

/** Secrets that pods mount. */
const mountedIn = (objects: readonly Manifest[]): string[] =>
  objects
    .filter(isWorkload)
    .flatMap(
      ({ spec }) => spec.template.spec.volumes?.flatMap(({ secret }) => secret?.secretName ?? []) ?? [],
    )
    .sort();

const certificateOf = (objects: readonly Manifest[], namespace: string, name: string): X509Certificate => {
  const secret = objects.find(
    ({ kind, metadata }) => kind === "Secret" && metadata.namespace === namespace && metadata.name === name,
  );
  return new X509Certificate(Buffer.from(secret?.data?.["tls.crt"] ?? "", "base64"));
};

describe("the further project", () => {
  test.each(["small", "production"])(
    "of the profile %s has no bus, and its own names of roles",
    async (profile) => {
      const objects = await printed(furtherArgs(profile), { folder: parcels });
      const settings = objects.find(({ metadata }) => metadata.name.startsWith("denrei-settings-"))?.data;
      expect(settings).toMatchObject({ NATS_URL: bus });
      expect(objects.filter(({ metadata }) => /^(nats|denrei-nats)\b/.test(metadata.name))).toEqual([]);
      expect(objects.filter(({ kind }) => kind === "Secret")).toEqual([]);
      const roles = objects.filter(({ kind }) => kind.startsWith("ClusterRole"));
      expect(roles.map(({ metadata }) => metadata.name).filter((name) => !name.endsWith("-pears"))).toEqual(
        [],
      );
    },
  );

  test("says how the project of the bus gets to know its users and namespace", async () => {
    const { stderr } = await runIn(parcels, ["manifests", ...furtherArgs("production")]);
    expect(stderr).toContain(
      "npx denrei users --profile production --json --namespace pears > users.json. " +
        "Then, in the project of the bus, denrei manifests and denrei certificates with --include users.json.",
    );
    expect(stderr).not.toContain("denrei-bus");
  });

  test("with the profile production, says that its policies block a bus at another address", async () => {
    const args = ["manifests", "--nats-url", "tls://nats.example.com:4222", "--profile"];
    const { stderr } = await runIn(parcels, [...args, "production"]);
    expect(stderr).toContain("add the addresses of its servers to the policy denrei-bus");
    expect((await runIn(parcels, [...args, "standard"])).stderr).not.toContain("denrei-bus");
  });

  test("scales by the bus of the other project", async () => {
    const folder = await mkdtemp(join(tmpdir(), "test-manifests-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { code } = await runIn(parcels, ["manifests", ...furtherArgs("standard"), "--out", folder]);
    expect(code).toBe(0);
    const keda = await readFile(join(folder, "components/keda/kustomization.yaml"), "utf8");
    expect(keda).toContain("endpoint=nats-headless.denrei.svc:8222");
    expect(keda).toContain("namespace: pears");
  });

  test("makes the certificate of its webhook only, which its kinds trust", async () => {
    const { code, stdout, stderr } = await runIn(parcels, [
      "manifests",
      "--json",
      "--certificates",
      ...furtherArgs("standard"),
    ]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("the bus does not know their users")]);
    expect(stderr).toContain("The output contains private keys");
    const { items } = JSON.parse(stdout) as { items: Manifest[] };
    expect(secretsIn(items, "pears")).toEqual(["denrei-admission-tls"]);
    const host = "denrei-admission.pears.svc";
    expect(certificateOf(items, "pears", "denrei-admission-tls").checkHost(host)).toBe(host);
    const caBundle = find(items, "Secret", "denrei-admission-tls").data?.["ca.crt"];
    expect(find(items, "CustomResourceDefinition", "parcels.parcels.example.com")).toMatchObject({
      spec: { conversion: { webhook: { clientConfig: { caBundle } } } },
    });
  });

  test.each([
    [["--certificates", "--nats-url", bus], "--nats-url: the project of that bus makes all certificates"],
    [["--include", "x.json", "--nats-url", bus], "--nats-url: the project of that bus includes the users"],
  ])("refuses %j", async (args, message) => {
    const { code, stderr } = await runIn(undefined, ["manifests", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe("the project of the bus", () => {
  test("makes the further project's users", () => {
    const config = ofBus.find(({ metadata }) => metadata.name.startsWith("nats-config-"));
    expect(config?.data?.["authorization.conf"]).toContain("CN=denrei-post");
  });

  test("names the file in its advice", () =>
    withUsersFile([], async (file) => {
      const { stderr } = await runIn(undefined, ["manifests", "--include", file]);
      expect(stderr).toContain(`npx denrei certificates --include ${file} --namespace denrei`);
    }));

  test("makes the certificates that the further project's pods mount, in their namespace", () =>
    withUsersFile(["--namespace", "pears"], async (file) => {
      const { stdout } = await runIn(undefined, ["certificates", "--json", "--include", file]);
      const { items } = JSON.parse(stdout) as { items: Manifest[] };
      const users = [...clients, "denrei-dashboard", "denrei-operator"];
      expect(secretsIn(items, "pears")).toEqual(users.map((user) => `${user}-tls`).sort());
      expect(mountedIn(further)).toEqual(
        ["denrei-admission-tls", ...clients.map((name) => `${name}-tls`)].sort(),
      );
      expect(secretsIn(items, "denrei")).not.toContain("denrei-post-tls");
      expect(secretsIn(items, "denrei")).toEqual(
        expect.arrayContaining(["denrei-bridge-tls", "denrei-backup-tls", "denrei-restore-tls", "nats-tls"]),
      );
      const authorities = new Set(items.map(({ data }) => data?.["ca.crt"]));
      expect(authorities.size).toBe(1);
      const ca = new X509Certificate(Buffer.from([...authorities][0] ?? "", "base64"));
      const [theirs, ours] = ["pears", "denrei"].map((at) => certificateOf(items, at, "denrei-bridge-tls"));
      expect([theirs?.subject, theirs?.verify(ca.publicKey)]).toEqual(["CN=denrei-bridge", true]);
      expect(theirs?.fingerprint).not.toBe(ours?.fingerprint);
    }));

  test("includes them in its manifests with the profile small", () =>
    withUsersFile(["--profile", "small", "--namespace", "pears"], async (file) => {
      const objects = await printed(["--profile", "small", "--include", file]);
      expect(secretsIn(objects, "pears")).toContain("denrei-post-tls");
    }));

  test.each([[[]], [["--namespace", "denrei"]]])(
    "makes all certificates in its own namespace with the users of %j, each once",
    (args) =>
      withUsersFile(args, async (file) => {
        const { stdout } = await runIn(undefined, ["certificates", "--json", "--include", file]);
        const { items } = JSON.parse(stdout) as { items: Manifest[] };
        const names = secretsIn(items, "denrei");
        expect(names).toHaveLength(items.length);
        expect(new Set(names).size).toBe(items.length);
        expect(names).toContain("denrei-post-tls");
      }),
  );
});

test("a namespace of users is for the project that includes them", async () => {
  const { code, stderr } = await runIn(parcels, ["users", "--namespace", "pears"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("add --json")]);
});

describe("the network policies of both", () => {
  const pods = (objects: readonly Manifest[]): Map<string, Place> =>
    new Map(
      objects
        .filter(isWorkload)
        .map(({ metadata: { name, namespace = "" }, spec }: Workload) => [
          name,
          { namespace, labels: spec.template.metadata.labels, address: "10.244.1.7" },
        ]),
    );
  const place = (objects: readonly Manifest[], name: string): Place => {
    const found = pods(objects).get(name);
    if (found === undefined) throw new Error(`expected a workload ${name}`);
    return found;
  };

  test("let the further project's processes reach the port of the bus for clients, and no other", () => {
    const all = [...ofBus, ...further];
    const nats = place(ofBus, "nats");
    const reaching = (port: number) =>
      [...pods(further)].filter(([, from]) => allows(all, from, nats, port)).map(([name]) => name);
    expect(reaching(4222).sort()).toEqual(clients);
    for (const port of [6222, 7777, 8222]) expect([port, reaching(port)]).toEqual([port, []]);
  });

  test("open nothing else between the namespaces", () => {
    // Without the default rule for the API server, which leads to every private address.
    const all = [...ofBus, ...further].filter(({ metadata }) => metadata.name !== "denrei-api-server");
    const found = [...pods(further)].flatMap(([from, there]) =>
      [...pods(ofBus)].flatMap(([to, here]) =>
        [4222, 8080, 8083, 443].flatMap((port) => [
          ...(allows(all, there, here, port) ? [`${from} to ${to} ${port}`] : []),
          ...(allows(all, here, there, port) ? [`${to} to ${from} ${port}`] : []),
        ]),
      ),
    );
    expect(found.sort()).toEqual(clients.map((name) => `${name} to nats 4222`));
  });

  test("refuse the same pods of a namespace that is not included", () => {
    const nats = place(ofBus, "nats");
    const bridge = { ...place(further, "denrei-bridge"), namespace: "plums" };
    expect(allows(ofBus, bridge, nats, 4222)).toBe(false);
    const other = { namespace: "pears", labels: { app: "other" }, address: "10.244.1.7" };
    expect(allows(ofBus, other, nats, 4222)).toBe(false);
  });
});
