/**
 * Accounts of NATS servers, from the roles. JetStream lives in one account, with the roles that configure it. Every other role
 * has an account of its own, which imports the subjects that the role may use. Within one account a client chooses where the
 * server publishes an answer; across accounts the server does, so text that a role can store reaches no other role's subjects.
 * https://docs.nats.io/running-a-nats-service/configuration/securing_nats/accounts
 */
import type { Permissions } from "../../bus/permissions.ts";
import { permissionLines } from "./authorization.ts";

/** The account that has JetStream, and everything that is stored. */
export const busAccount = "BUS";

/** A user of a NATS server, and where it lives. */
export interface AccountUser {
  /** The name, or with `verify_and_map` the subject of the certificate: `CN=…`. */
  readonly user: string;
  readonly password?: string;
  /** Of the role. */
  readonly name: string;
  readonly permissions: Permissions | undefined;
  readonly account: "bus" | "own";
}

/** How long the server waits for what is left of an answer. Pulls expire sooner. */
const answerThreshold = "5s";

/** Subjects that never leave the role: answers, and what its own processes tell each other. */
const isLocal = (subject: string): boolean => /^(_INBOX|echoes\.)/.test(subject);

/** Answers of several messages. */
const isStreamed = (subject: string): boolean =>
  /^\$JS\.API\.(DIRECT\.GET|CONSUMER\.MSG\.NEXT)\./.test(subject);

/** The name of a role's account. */
const accountOf = ({ name }: AccountUser): string => `ROLE_${name.replaceAll("-", "_")}`;

/** The configuration's text. */
export function accountsText(users: readonly AccountUser[]): string {
  const own = users.filter(({ account }) => account === "own");
  return [
    "accounts {",
    `  ${busAccount} {`,
    "    jetstream: enabled",
    ...usersLines(users.filter(({ account }) => account === "bus")),
    "    exports: [",
    ...exportLines("service", importers(own, servicesOf)),
    ...exportLines("stream", importers(own, streamsOf)),
    "    ]",
    "  }",
    ...own.flatMap(accountLines),
    "}",
    "",
  ].join("\n");
}

const servicesOf = ({ permissions }: AccountUser): readonly string[] =>
  permissions?.publish.filter((subject) => !isLocal(subject)) ?? [];
const streamsOf = ({ permissions }: AccountUser): readonly string[] =>
  permissions?.subscribe.filter((subject) => !isLocal(subject)) ?? [];

/** Accounts that import a subject, by subject. */
function importers(
  users: readonly AccountUser[],
  subjectsOf: (user: AccountUser) => readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const user of users)
    for (const subject of subjectsOf(user))
      found.set(subject, [...(found.get(subject) ?? []), accountOf(user)]);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const exportLines = (
  type: "service" | "stream",
  subjects: ReadonlyMap<string, readonly string[]>,
): string[] =>
  [...subjects].map(([subject, accounts]) => {
    const streamed = type === "service" && isStreamed(subject) ? ", response_type: stream" : "";
    const threshold = type === "service" ? `, response_threshold: ${answerThreshold}` : "";
    return `      { ${type}: ${JSON.stringify(subject)}, accounts: [${accounts.join(", ")}]${streamed}${threshold} }`;
  });

const accountLines = (user: AccountUser): string[] => [
  `  ${accountOf(user)} {`,
  ...usersLines([user]),
  "    imports: [",
  ...servicesOf(user).map((subject) => importLine("service", subject)),
  ...streamsOf(user).map((subject) => importLine("stream", subject)),
  "    ]",
  "  }",
];

const importLine = (type: "service" | "stream", subject: string): string =>
  `      { ${type}: { account: ${busAccount}, subject: ${JSON.stringify(subject)} } }`;

const usersLines = (users: readonly AccountUser[]): string[] => [
  "    users: [",
  ...users.flatMap(({ user, password, permissions }) => [
    "      {",
    `        user: ${JSON.stringify(user)}`,
    ...(password === undefined ? [] : [`        password: ${JSON.stringify(password)}`]),
    ...(permissions === undefined ? [] : permissionLines(permissions).map((line) => `  ${line}`)),
    "      }",
  ]),
  "    ]",
];
