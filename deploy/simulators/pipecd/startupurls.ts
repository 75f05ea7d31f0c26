/** Validates addresses like PipeCD's programs: MySQL, MinIO, and MongoDB. */
import { isIPv6 } from "node:net";

/** MySQL settings of a configuration. */
export interface MysqlAddress {
  readonly url: string;
  readonly database: string;
  readonly hasFiles: boolean;
}

/** The error for the data source name that server and ops build; ops adds a parameter. */
export function dsnProblem({ url, database, hasFiles }: MysqlAddress, program: string): string | undefined {
  if (url === "") return "url is required field";
  if (database === "" && !url.includes("/")) return "database is not set";
  const whole =
    database === "" ? url : hasFiles ? `user:password@tcp(${url})/${database}` : `${url}/${database}`;
  return (
    driverProblem(whole) ?? (program === "ops" ? driverProblem(`${whole}?multiStatements=true`) : undefined)
  );
}

/** https://github.com/go-sql-driver/mysql, v1.6.0 */
function driverProblem(dsn: string): string | undefined {
  const slash = dsn.lastIndexOf("/");
  if (slash < 0) return "invalid DSN: missing the slash separating the database name";
  const address = dsn.slice(0, slash);
  const server = address.slice(address.lastIndexOf("@") + 1);
  if (server.includes("(") && !server.endsWith(")")) return "invalid DSN: network address not terminated";
  const [network = "", inside = ""] = server.split("(", 2);
  const isEmpty = inside === "" || inside === ")";
  if (isEmpty && !["", "tcp", "unix"].includes(network))
    return `default addr for network '${network}' unknown`;
  const parameters = dsn
    .slice(slash + 1)
    .split("?")
    .slice(1)
    .join("?")
    .split("&");
  const wrong = parameters
    .map((parameter) => parameter.split("="))
    .find(
      ([name, ...values]) =>
        /^(parseTime|multiStatements)$/.test(name ?? "") && !/^(true|false|0|1)$/i.test(values.join("=")),
    );
  return wrong && `invalid bool value: ${wrong.slice(1).join("=")}`;
}

/** https://github.com/minio/minio-go expects a host and a port, which PipeCD takes from the URL. */
export function endpointProblem(endpoint: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: PipeCD rejects them
  if (/[\x00-\x1f\x7f]|%(?![0-9a-f]{2})/i.test(endpoint)) return "failed to parse the given endpoint";
  const [, scheme, authority = ""] = /^(?:([a-z][a-z0-9+.-]*):)?\/\/([^/?#]*)/i.exec(endpoint) ?? [];
  if (scheme === undefined && !endpoint.startsWith("//"))
    return "does not follow ip address or domain name standards";
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const [, name = "", port] = /^(\[[0-9a-f:]+\]|[^:[\]]*)(?::([0-9]*))?$/i.exec(host) ?? [];
  if (name.startsWith("[") && !isIPv6(name.slice(1, -1)))
    return "failed to parse the given endpoint: invalid host";
  if (name.startsWith("[")) return port === undefined ? "missing port in address" : undefined;
  const isDomain = name !== "" && !/^[-_.]|[-_]$|[\s`~!@#$%^&*()+={}|\\"';><]/.test(name);
  if (!isDomain || (/\.(s3\.amazonaws|googleapis)\.com/.test(name) && name !== "storage.googleapis.com"))
    return "does not follow ip address or domain name standards";
  return undefined;
}

/** https://github.com/mongodb/mongo-go-driver, v1.4.0. Options are not validated. */
export function mongoProblem(url: string): string | undefined {
  const [, user = "", rest = ""] = /^mongodb(?:\+srv)?:\/\/(?:([^@]*)@)?(.*)$/s.exec(url) ?? ["", "/", ""];
  if (/\/|:.*:|%(?![0-9a-f]{2})/i.test(user)) return "error parsing uri: unescaped user info";
  const [hosts = "", query = ""] = rest.split(/(?=[/?@])/, 2);
  if (/^[?@]/.test(query)) return "error parsing uri: must have a / before the query ?";
  const isHost = (host: string) => /^(\[[^[\]]+\]|[^:[\]]+)(:(\d*))?$/.test(host) && portOf(host) <= 65_535;
  const found = hosts.split(",").filter(Boolean);
  if (found.length === 0 || !found.every(isHost)) return "error parsing uri: invalid host";
  const option = rest.slice(rest.indexOf("?") + 1).split("&")[0] ?? "";
  return rest.includes("?") && !/^[^=]+=/.test(option) ? "error parsing uri: invalid option" : undefined;
}

const portOf = (host: string): number => {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined ? 1 : Number(port) || Number.POSITIVE_INFINITY;
};
