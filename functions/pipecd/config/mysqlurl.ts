/**
 * Validates the fields that PipeCD joins to a MySQL data source name: https://github.com/go-sql-driver/mysql#dsn-data-source-name.
 * The server opens that name. Ops appends `?multiStatements=true`, so the name must not have parameters.
 */

/** The fields of a data source name. */
export interface MysqlFields {
  readonly url: string;
  readonly database?: string | undefined;
  /** Whether user and password are in files. */
  readonly hasFiles: boolean;
}

/** An invalid field. */
export interface MysqlProblem {
  readonly field: "url" | "database";
  readonly problem: string;
}

const plain = "expected host:port, because user and password are in files";
const full = "expected user:password@tcp(host:port)";

/** Why PipeCD cannot use these fields; undefined if it can. */
export function mysqlProblem({ url, database = "", hasFiles }: MysqlFields): MysqlProblem | undefined {
  const ofUrl = (problem: string): MysqlProblem => ({ field: "url", problem });
  if (/[/?]/.test(database))
    return { field: "database", problem: "expected a database name without / and ?" };
  if (hasFiles) return isAddress(url) ? undefined : ofUrl(plain);
  if (database === "" && !url.includes("/")) return ofUrl(`${full}/database, or the field database`);
  const name = database === "" ? url : `${url}/${database}`;
  const slash = name.lastIndexOf("/");
  const [left, databaseInName = ""] = [name.slice(0, slash), name.slice(slash + 1)];
  if (databaseInName.includes("?"))
    return ofUrl("expected no parameters, because PipeCD appends its own: remove ? and everything after it");
  if (database !== "" && /\)\/[^)@]*$/.test(url))
    return ofUrl(`expected the database either in the url or in the field database: remove one of them`);
  if (!isServer(left.slice(left.lastIndexOf("@") + 1)))
    return ofUrl(database === "" ? `${full}/database; a password with / needs the field database` : full);
  return databaseInName === ""
    ? ofUrl("expected the database name after the last /, or in the field database")
    : undefined;
}

/** `tcp(host:port)` or `unix(/path)`. Without an address, the network has a default one. */
function isServer(text: string): boolean {
  const [, network = "", rest = ""] = /^([^(]*)(.*)$/s.exec(text) ?? [];
  if (rest === "") return ["", "tcp", "unix"].includes(network);
  if (!rest.endsWith(")")) return false;
  const address = rest.slice(1, -1);
  if (network === "unix") return true;
  return (network === "" || network === "tcp") && (address === "" || isAddress(address));
}

/** `host`, `host:port`, `[2001:db8::1]:port`. */
const isAddress = (text: string): boolean => {
  const [, port] =
    /^(?:[^\s:()[\]@/?]+|\[[0-9A-Fa-f:.%]+\]|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*)(?::([0-9]{1,5}))?$/.exec(
      text,
    ) ?? ["", "-"];
  return port !== "-" && Number(port ?? 1) <= 65_535;
};
