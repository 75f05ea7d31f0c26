/**
 * Generates `accounts` in the configuration of NATS servers from the roles. JetStream lives in one account, together with
 * the roles that configure it. Every other role has its own account, which imports the subjects that the role may use.
 * Within one account, a client chooses the subject to which the server publishes an answer. Across accounts the server
 * chooses it, so a message that a role has stored is never published to a subject that the role may not publish to.
 * https://docs.nats.io/running-a-nats-service/configuration/securing_nats/accounts
 */
import { busAccount, busRoles, isLocal, type Permissions, type Role, userOf } from "denrei/bus";
import { type ReconcileFunction, subscriptionsOf } from "denrei/runtime";

/** A user of a NATS server. */
export interface NatsUser extends Role {
  /** The name, or with `verify_and_map` the subject of the certificate: `CN=…`. */
  readonly user: string;
  /** Undefined for users who authenticate with a certificate. */
  readonly password?: string;
}

/** The roles that have their own processes in a cluster with separate processes. Each function is such a role. */
export const clusterRoles = (functions: readonly ReconcileFunction[], cluster: string): Role[] =>
  busRoles(subscriptionsOf(functions, cluster), cluster).filter(
    ({ name }) => !["worker", "run"].includes(name),
  );

/**
 * The roles, all in the account of the bus. This costs the servers less CPU, but a compromised program can make the server
 * publish anything, regardless of its permissions: docs/decisions/0025-an-account-for-each-role.md.
 */
export const inOneAccount = (roles: readonly Role[]): Role[] =>
  roles.map((role) => ({ ...role, account: "bus" }));

/** The users of a bus that maps certificates to users (`verify_and_map`). */
export const certificateUsers = (roles: readonly Role[]): NatsUser[] =>
  roles.map((role) => ({ ...role, user: `CN=${userOf(role.name)}` }));

/** The configuration's text: https://docs.nats.io/running-a-nats-service/configuration/securing_nats/accounts */
export function authorizationText(users: readonly NatsUser[]): string {
  const importing = users.filter(({ account }) => account === "own");
  const directs = importing.flatMap((from) => importing.flatMap((to) => directsOf(from, to)));
  return [
    `authorization { timeout: ${authorizationTimeoutSeconds} }`,
    "accounts {",
    `  ${busAccount} {`,
    "    jetstream: enabled",
    ...usersLines(users.filter(({ account }) => account === "bus")),
    ...listLines("exports", [
      ...exportLines("service", importersOf(importing, servicesOf)),
      ...exportLines("stream", importersOf(importing, streamsOf)),
    ]),
    "  }",
    ...importing.flatMap((user) => accountLines(user, directs)),
    "}",
    "",
  ].join("\n");
}

/**
 * How long a server waits for a client's credentials. The default of 2 s is too short when a client shares a busy machine,
 * or when many clients reconnect after a restart of the server.
 */
const authorizationTimeoutSeconds = 10;

/** Connections of a role, over all its replicas: more than any installation runs, and few enough to leave room for other roles. */
export const maxConnections = 256;

/** How long the server keeps the route for further answers to a request. Pull requests end sooner. */
const responseThreshold = "5s";

/** True for requests that the server answers with several messages. */
const isStreamed = (subject: string): boolean =>
  /^\$JS\.API\.(DIRECT\.GET|CONSUMER\.MSG\.NEXT)\./.test(subject);

const servicesOf = (user: NatsUser): readonly string[] =>
  user.permissions?.publish.filter((subject) => !isLocal(user, subject)) ?? [];
const streamsOf = (user: NatsUser): readonly string[] =>
  user.permissions?.subscribe.filter((subject) => !isLocal(user, subject)) ?? [];

/** A subject on which one role publishes and another one subscribes. */
interface Direct {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
}

/** The server does not forward a message as a stream that it received as a service, so these subjects bypass the bus account. */
function directsOf(from: NatsUser, to: NatsUser): Direct[] {
  if (from === to) return [];
  const shared = servicesOf(from).flatMap((published) =>
    streamsOf(to)
      .flatMap((listened) => intersectionOf(published, listened) ?? [])
      // Replicas of one function both publish and subscribe. Imports in both directions would be a cycle.
      .filter((subject) => !servicesOf(to).some((own) => intersectionOf(own, subject) !== undefined)),
  );
  return [...new Set(shared)].map((subject) => ({ from: from.name, to: to.name, subject }));
}

/** A pattern of the subjects that match both patterns; undefined when no subject does. */
export function intersectionOf(one: string, other: string): string | undefined {
  const [a, b] = [one.split("."), other.split(".")];
  const both: string[] = [];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [x, y] = [a[at], b[at]];
    if (x === ">" && y !== undefined) return [...both, ...b.slice(at)].join(".");
    if (y === ">" && x !== undefined) return [...both, ...a.slice(at)].join(".");
    if (x === undefined || y === undefined) return undefined;
    if (x !== y && x !== "*" && y !== "*") return undefined;
    both.push(x === "*" ? y : x);
  }
  return both.join(".");
}

/** Names of accounts that import a subject, by subject. */
function importersOf(
  users: readonly NatsUser[],
  subjectsOf: (user: NatsUser) => readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const user of users)
    for (const subject of subjectsOf(user)) found.set(subject, [...(found.get(subject) ?? []), user.name]);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const exportLines = (
  type: "service" | "stream",
  subjects: ReadonlyMap<string, readonly string[]>,
): string[] =>
  [...subjects].map(([subject, accounts]) => {
    const answers =
      type === "stream"
        ? ""
        : `${isStreamed(subject) ? ", response_type: stream" : ""}, response_threshold: ${responseThreshold}`;
    return `{ ${type}: ${JSON.stringify(subject)}, accounts: ${JSON.stringify(accounts)}${answers} }`;
  });

function accountLines(user: NatsUser, directs: readonly Direct[]): string[] {
  const given = Map.groupBy(
    directs.filter(({ from }) => from === user.name),
    ({ subject }) => subject,
  );
  return [
    `  ${JSON.stringify(user.name)} {`,
    `    limits: { max_connections: ${maxConnections} }`,
    ...usersLines([user]),
    ...listLines("imports", [
      ...servicesOf(user).map((subject) => importText("service", subject)),
      ...streamsOf(user).map((subject) => importText("stream", subject)),
      ...directs
        .filter(({ to }) => to === user.name)
        .map(({ from, subject }) => importText("stream", subject, from)),
    ]),
    ...listLines(
      "exports",
      [...given].map(
        ([subject, those]) =>
          `{ stream: ${JSON.stringify(subject)}, accounts: ${JSON.stringify(those.map(({ to }) => to))} }`,
      ),
    ),
    "  }",
  ];
}

const importText = (type: "service" | "stream", subject: string, account = busAccount): string =>
  `{ ${type}: { account: ${JSON.stringify(account)}, subject: ${JSON.stringify(subject)} } }`;

const usersLines = (users: readonly NatsUser[]): string[] => listLines("users", users.flatMap(userLines));

const userLines = ({ user, password, permissions }: NatsUser): string[] => [
  "{",
  `  user: ${JSON.stringify(user)}`,
  ...(password === undefined ? [] : [`  password: ${JSON.stringify(password)}`]),
  ...(permissions === undefined ? [] : permissionLines(permissions)),
  "}",
];

/** NATS rejects subjects that are not in `allow`. Since an empty list would allow every subject, `deny` replaces it. */
const permissionLines = ({ publish, subscribe }: Permissions): string[] => [
  "  permissions: {",
  ...allowLines("publish", publish),
  ...allowLines("subscribe", subscribe),
  "  }",
];

function allowLines(name: "publish" | "subscribe", subjects: readonly string[]): string[] {
  if (subjects.length === 0) return [`    ${name}: { deny: [">"] }`];
  return [
    `    ${name}: {`,
    "      allow: [",
    ...subjects.map((subject) => `        ${JSON.stringify(subject)}`),
    "      ]",
    "    }",
  ];
}

const listLines = (name: string, lines: readonly string[]): string[] => [
  `    ${name}: [`,
  ...lines.map((line) => `      ${line}`),
  "    ]",
];
