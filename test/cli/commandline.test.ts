/** Help and usage errors; no server runs. */
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { catalog } from "../../functions/catalog.ts";
import { runHere } from "./here.ts";

const names = Object.keys(catalog).join(", ");

const helps: readonly [command: string, ...mentioned: string[]][] = [
  [
    "",
    "demo",
    "up",
    "bridge",
    "worker",
    "crds",
    "rbac",
    "opt-in",
    "certificates",
    "users",
    "status",
    "Exit codes",
  ],
  [
    "demo",
    ...["song", "github", "paas", "pipecd", "dashboard", "--workers <count>"],
    ...["KUBECONFIG", "DENREI_ZUNDOKO_WORDS"],
  ],
  ["up", "--workers <count>", "--no-dashboard", "DENREI_OIDC_ISSUER", "Ctrl-C"],
  [
    "bridge",
    ...["--kubeconfig <path>", "--nats-url <url>", "NATS_URL", "nats://127.0.0.1:4222"],
    ...["--namespaces", "OTEL_"],
  ],
  [
    "worker",
    "--ack-wait-seconds <seconds>",
    "DENREI_ACK_WAIT_SECONDS",
    "(default: 10)",
    "--http-address",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
  ],
  [
    "gateway",
    ...["--webhook-secrets <folder>", "DENREI_WEBHOOK_SECRETS", "(default: /)", "with 202 when"],
    "docs/tracing.md",
  ],
  ["run", "[function...]", "--watch-seconds", "--webhook-secrets <folder>", "--ack-wait-seconds", "OTEL_"],
  [
    "dashboard",
    ...["--dashboard-url <url>", "DENREI_DASHBOARD_KEYS", "--oidc-issuer <url>", "DENREI_OIDC_CLIENT_ID"],
    ...["(default: openid offline_access)", "--authentication-config"],
  ],
  ["crds", "--json"],
  ["webhook-configurations", "--namespace <name>", "--webhook-ca <path>", "--json", "rejects writes"],
  ["migrate-storage", "[kind...]", "--dry-run", "--kubeconfig <path>", "status.storedVersions"],
  ["rbac", "--namespace <name>", '(default: "denrei")', "--role-suffix <word>", "--json"],
  ["opt-in", "--platform-namespace <name>", '(default: "denrei")', "--json", "kubectl label namespace"],
  [
    "certificates",
    "--namespace <name>",
    '(default: "denrei")',
    "--include <file...>",
    "--json",
    "valid for a year",
  ],
  ["users", "--cluster <name>", '(default: "default")', "--one-account", "--include <file...>", "--json"],
  ["adopt", "<function...>", "do everything"],
  ["status", "--json", "--cluster <name>", "PENDING", "DELAYED", "RETRYING"],
  ["working", "--json", "--cluster <name>"],
  ["history", "--trace <id>", "--limit <count>", "--json", "(default: 50)"],
  ["requests", "[function]", "--state <states>", "--limit <count>", "(default: 50)", "--json", "REASON"],
  ["chart", "print", "render"],
  ["chart render", "<file>", "--chart <path>", "--config <path>"],
  ["deadletters", "list", "show", "replay"],
  ["deadletters list", "--function <name>", "--json"],
  ["deadletters show", "<object>", "--json"],
  ["deadletters replay", "--all"],
  [
    "prune",
    ...["[function]", "--project <name>", "--dry-run", "--force", "--cluster <name>"],
    ...["do everything", "Stop its workers first"],
  ],
  ["uninstall", "--yes", "--keep-objects", "--crds", "--timeout <seconds>", "(default: 300)"],
  [
    "new function",
    ...[
      "<name>",
      "--for <Kind>",
      "--external <kind>",
      "--group <group>",
      "--plural <name>",
      "--scope <scope>",
    ],
    ...["--system <folder>", "--owns", "--watches", "--webhook <provider>", "--dry-run"],
  ],
];

describe("--help", () => {
  test.for(helps)("of %s", async ([command, ...mentioned]) => {
    const { code, stdout, stderr } = await runHere([...command.split(" ").filter(Boolean), "--help"]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(`Usage: denrei ${command}`.trim());
    // Lines wrap at the width of the terminal.
    const text = stdout.replaceAll(/\s+/g, " ");
    for (const phrase of mentioned) expect(text).toContain(phrase);
  });

  test("of the program lists every command", async () => {
    const { stdout } = await runHere(["--help"]);
    const listed = [...stdout.matchAll(/^ {2}([a-z]+(?:-[a-z]+)*)[ [<]/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual(
      (
        "admission adopt bridge build certificates chart crds dashboard deadletters demo dev gateway helm help history init manifests migrate-storage " +
        "new opt-in prune rbac requests run status uninstall up users webhook-configurations webhooks worker working"
      ).split(" "),
    );
  });
});

/** A command line or variables, and the whole message. */
const mistakes: readonly {
  readonly args: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly says: string;
}[] = [
  { args: "foo", says: "denrei: unknown command 'foo'" },
  { args: "worke hikawa", says: "denrei: unknown command 'worke'\n(Did you mean worker?)" },
  { args: "worker", says: "denrei: missing required argument 'function'" },
  { args: "status --verbose", says: "denrei: unknown option '--verbose'" },
  {
    args: "crds extra",
    says: "denrei: too many arguments for 'crds'. Expected 0 arguments but got 1: extra.",
  },
  { args: "status --nats-url", says: "denrei: option '--nats-url <url>' argument missing" },
  ...["0", "101", "many", "2.5"].map((count) => ({
    args: `demo --workers ${count}`,
    says: `denrei: option '--workers <count>' argument '${count}' is invalid. Expected a whole number from 1 to 100.`,
  })),
  {
    args: "demo piano",
    says: "denrei: command-argument value 'piano' is invalid for argument 'name'. Expected one of song, github, paas, pipecd, dashboard.",
  },
  {
    args: "demo dashbord",
    says: "denrei: command-argument value 'dashbord' is invalid for argument 'name'. Expected one of song, github, paas, pipecd, dashboard (did you mean dashboard?).",
  },
  {
    args: "rbac --namespace Big_Letters",
    says: "denrei: option '--namespace <name>' argument 'Big_Letters' is invalid. Expected lower-case letters, digits and dashes, at most 63.",
  },
  {
    args: "worker unknown",
    says: `denrei: unknown function "unknown": expected one of ${names}, or all`,
  },
  {
    args: "worker hikawa unknown",
    says: `denrei: unknown function "unknown": expected one of ${names}, or all`,
  },
  ...["worker", "dev", "dev pipecd-mongo"].map((command) => ({
    args: `${command} hikwa`,
    says: `denrei: unknown function "hikwa" (did you mean hikawa?): expected one of ${names}, or all`,
  })),
  {
    args: "rbac gatewy",
    says: `denrei: unknown function "gatewy" (did you mean gateway?): expected one of ${names}, bridge, gateway, or all`,
  },
  ...["requests hikwa", "deadletters show hikwa default/x", "deadletters replay hikwa --all"].map((args) => ({
    args,
    says: `denrei: unknown function "hikwa" (did you mean hikawa?): expected one of ${names}`,
  })),
  {
    args: "dev hikawa --simulate gihub",
    says: "denrei: option '--simulate <services>' argument 'gihub' is invalid. Expected a comma-separated list of github, kpack, pipecd; found \"gihub\" (did you mean github?).",
  },
  {
    args: "rbac unknown",
    says: `denrei: unknown function "unknown": expected one of ${names}, bridge, gateway, or all`,
  },
  {
    args: "deadletters list --function unknown",
    says: `denrei: unknown function "unknown": expected one of ${names}`,
  },
  {
    args: "deadletters show all default/x",
    says: `denrei: unknown function "all": expected one of ${names}`,
  },
  {
    args: "deadletters replay hikawa",
    says: "denrei: specify an object or --all",
  },
  {
    args: "deadletters replay hikawa default/x --all",
    says: "denrei: specify either an object or --all, not both",
  },
  ...[
    ["--nats-url", "http://127.0.0.1:4222", "nats://host:port or tls://host:port, or several with commas"],
    ["--nats-creds", "/no/such/file", "a readable file"],
    ["--nats-ca", "/no/such/file", "a readable file"],
    ["--cluster", "Big_Letters", "lower-case letters, digits and dashes, at most 63"],
    ["--replica", "a/b", "letters, digits, dots, dashes and underscores, at most 100"],
    ["--stream-replicas", "6", "a whole number from 1 to 5"],
    ["--ack-wait-seconds", "2", "a whole number from 3 to 600"],
    ["--ack-wait-seconds", "3.5", "a whole number from 3 to 600"],
    ["--http-address", "8080", "host:port or :port, with a port from 0 to 65535"],
    ["--http-address", "127.0.0.1:65536", "host:port or :port, with a port from 0 to 65535"],
    ["--log-level", "loud", "trace, debug, info, warn, error, fatal or silent"],
    ["--namespaces", "a,,b", "lower-case letters, digits and dashes, at most 63"],
    ["--watch-seconds", "0", "a whole number from 1 to 3600"],
  ].map(([flag, value, expected]) => ({
    args: `bridge ${flag} ${value}`,
    says: `denrei: ${flag}: expected ${expected}, found "${value}"`,
  })),
  ...[
    ["--webhook-address", "8080", "host:port or :port, with a port from 0 to 65535"],
    ["--webhook-path", "github", "a path such as /hooks"],
    ["--webhook-path", "/github/", "a path such as /hooks"],
  ].map(([flag, value, expected]) => ({
    args: `gateway --webhook-secrets /tmp ${flag} ${value}`,
    says: `denrei: ${flag}: expected ${expected}, found "${value}"`,
  })),
  {
    args: "gateway",
    says: "denrei: --webhook-secrets or DENREI_WEBHOOK_SECRETS: expected a folder with a file of secrets for each webhook, found none",
  },
  {
    args: "worker hikawa",
    env: { DENREI_ACK_WAIT_SECONDS: "1" },
    says: 'denrei: DENREI_ACK_WAIT_SECONDS: expected a whole number from 3 to 600, found "1"',
  },
  {
    args: "worker hikawa",
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
    says: "denrei: OTEL_EXPORTER_OTLP_ENDPOINT: expected the URL of a collector that takes OTLP over HTTP, such as http://collector:4318, found another text",
  },
  {
    args: "worker hikawa --cluster A --log-level b",
    says: [
      "denrei: 2 settings are wrong:",
      '  --cluster: expected lower-case letters, digits and dashes, at most 63, found "A"',
      '  --log-level: expected trace, debug, info, warn, error, fatal or silent, found "b"',
    ].join("\n"),
  },
];

const helpHint = /\n\(For help, run denrei --help or denrei <command> --help\)/;

describe("a usage error is printed without a stack, with exit code 2", () => {
  const titled = mistakes.map((mistake) => ({
    ...mistake,
    title: [...Object.entries(mistake.env ?? {}).map((pair) => pair.join("=")), mistake.args].join(" "),
  }));
  test.for(titled)("$title", async ({ args, env, says }) => {
    const { code, stdout, stderr } = await runHere(args.split(" "), env && { env });
    expect(stderr.replace(helpHint, "").trimEnd()).toBe(says);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("without a command", () => {
  test.for(["", "deadletters"])("denrei %s prints its help to standard error", async (args) => {
    const { code, stdout, stderr } = await runHere(args.split(" ").filter(Boolean));
    expect(stderr).toContain("Usage: denrei");
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("manifests", () => {
  const kinds = (objects: readonly { kind: string }[]) =>
    [...new Set(objects.map(({ kind }) => kind))].sort();

  test("crds prints YAML documents or a JSON list", async () => {
    const [yaml, json] = [await runHere(["crds"]), await runHere(["crds", "--json"])];
    const documents = parseAllDocuments(yaml.stdout).map((document) => document.toJS());
    const list = JSON.parse(json.stdout);
    expect(list).toMatchObject({ apiVersion: "v1", kind: "List" });
    expect(list.items).toEqual(documents);
    expect(kinds(documents)).toEqual(["CustomResourceDefinition"]);
    expect(documents.map(({ spec }) => spec.names.kind)).toEqual([
      ...["Hikawa", "Zundoko", "Kiyoshi"],
      ...["GitHubApp", "ClusterGitHubApp", "Installation"],
      ...["Application", "HostClaim", "RemoteSync", "AppPipeline"],
      ...["Minio", "ControlPlane", "Mongo", "Mysql", "Environment", "Piped", "Application"],
      "EventRegistration",
    ]);
  });

  test("users prints the users and permissions of one cluster", async () => {
    const { code, stdout } = await runHere(["users", "--cluster", "east"]);
    expect(code).toBe(0);
    const users = [...stdout.matchAll(/^ +user: "CN=denrei-(.*)"$/gm)].map(([, name]) => name);
    expect(users).toEqual([
      ...["bridge", "backup", "restore"],
      ...["gateway", "dashboard", "operator"],
      ...names.split(", "),
    ]);
    expect(stdout).toContain('"work.hikawa.east.>"');
    expect(stdout).toMatch(/"\$JS\.API\.CONSUMER\.MSG\.NEXT\.OBJECTS\.hikawa_east_[0-9a-f]{8}"/);
    expect(stdout).not.toContain("default");
    const shared = await runHere(["users", "--cluster", "east", "--one-account"]);
    const accounts = (text: string) => text.match(/^ {2}\S+ \{$/gm)?.length;
    expect([accounts(stdout), accounts(shared.stdout)]).toEqual([users.length - 2, 1]);
  });

  test("rbac prints the given functions in the given namespace", async () => {
    const rbac = async (...args: string[]) => {
      const { code, stdout } = await runHere(["rbac", "--json", ...args]);
      expect(code).toBe(0);
      return JSON.parse(stdout).items as { kind: string; metadata: { name: string; namespace?: string } }[];
    };
    const accounts = (objects: Awaited<ReturnType<typeof rbac>>) =>
      objects.filter(({ kind }) => kind === "ServiceAccount").map(({ metadata }) => metadata);
    const everything = await rbac();
    const hikawa = await rbac("hikawa", "--namespace", "mine");
    const bridge = await rbac("bridge");
    const gateway = await rbac("gateway");
    expect(kinds(everything)).toEqual(expect.arrayContaining(["ClusterRole", "ServiceAccount"]));
    expect(accounts(everything)).toHaveLength(2 + names.split(", ").length);
    expect(accounts(hikawa)).toMatchObject([{ namespace: "mine" }]);
    expect(accounts(bridge)).toMatchObject([{ name: "denrei-bridge", namespace: "denrei" }]);
    expect(gateway).toMatchObject([
      { kind: "ServiceAccount", metadata: { name: "denrei-gateway", namespace: "denrei" } },
    ]);
  });

  test("opt-in prints each namespace once and binds the accounts of the platform namespace", async () => {
    const { code, stdout, stderr } = await runHere([
      ...["opt-in", "team-a", "team-b", "team-a"],
      ...["--platform-namespace", "mine", "--json"],
    ]);
    expect(code).toBe(0);
    const { items } = JSON.parse(stdout) as {
      items: { kind: string; metadata: { name: string; namespace?: string }; subjects?: object[] }[];
    };
    expect(stderr).toContain("kubectl label namespace team-a team-b denrei.dev/secrets=true\n");
    expect(kinds(items)).toEqual(["RoleBinding"]);
    for (const namespace of ["team-a", "team-b"]) {
      const bridge = items.filter(
        ({ metadata }) => metadata.namespace === namespace && metadata.name === "denrei-bridge-opted-in",
      );
      const subject = { kind: "ServiceAccount", name: "denrei-bridge", namespace: "mine" };
      expect(bridge).toMatchObject([{ subjects: [subject] }]);
    }
  });
});
