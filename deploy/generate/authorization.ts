/** The users of NATS servers, from the roles: `authorization` in a server's configuration. */
import type { Permissions, Role } from "../../bus/permissions.ts";

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

const userLines = ({ user, password, permissions }: NatsUser): string[] => [
  "    {",
  `      user: ${JSON.stringify(user)}`,
  ...(password === undefined ? [] : [`      password: ${JSON.stringify(password)}`]),
  ...(permissions === undefined ? [] : permissionLines(permissions)),
  "    }",
];

/** What is not allowed is refused; an empty list would allow everything. */
const permissionLines = ({ publish, subscribe }: Permissions): string[] => [
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
