/** The users of NATS servers, from the roles: `authorization` in a server's configuration. */
import { userOf } from "../../bus/identity.ts";
import { busRoles, type Permissions, type Role } from "../../bus/permissions.ts";
import { interestsOf, type ReconcileFunction } from "../../bus/worker/function.ts";

/** A user of a NATS server. */
export interface NatsUser {
  /** The name, or with `verify_and_map` the subject of the certificate: `CN=…`. */
  readonly user: string;
  /** None where the certificate is proof enough. */
  readonly password?: string;
  readonly permissions: Role["permissions"];
}

/** The configuration's text: https://docs.nats.io/running-a-nats-service/configuration/securing_nats/authorization */
export const authorizationText = (users: readonly NatsUser[]): string =>
  ["authorization {", "  users: [", ...users.flatMap(userLines), "  ]", "}", ""].join("\n");

/** The roles that have processes of their own in a cluster: there, each function has. */
export const clusterRoles = (functions: readonly ReconcileFunction[], cluster: string): Role[] =>
  busRoles(interestsOf(functions, cluster), cluster).filter(({ name }) => name !== "worker");

/** The users of a bus that takes a client for whom its certificate names (`verify_and_map`). */
export const certificateUsers = (roles: readonly Role[]): NatsUser[] =>
  roles.map(({ name, permissions }) => ({ user: `CN=${userOf(name)}`, permissions }));

const userLines = ({ user, password, permissions }: NatsUser): string[] => [
  "    {",
  `      user: ${JSON.stringify(user)}`,
  ...(password === undefined ? [] : [`      password: ${JSON.stringify(password)}`]),
  ...(permissions === undefined ? [] : permissionLines(permissions)),
  "    }",
];

/** What is not allowed is refused; an empty list would allow everything. */
export const permissionLines = ({ publish, subscribe }: Permissions): string[] => [
  "      permissions: {",
  ...allowLines("publish", publish),
  ...allowLines("subscribe", subscribe),
  "      }",
];

function allowLines(name: "publish" | "subscribe", subjects: readonly string[]): string[] {
  if (subjects.length === 0) return [`        ${name}: { deny: [">"] }`];
  return [
    `        ${name}: {`,
    "          allow: [",
    ...subjects.map((subject) => `            ${JSON.stringify(subject)}`),
    "          ]",
    "        }",
  ];
}
