/**
 * The address of a MySQL, as PipeCD makes a data source name of it: https://github.com/go-sql-driver/mysql#dsn-data-source-name.
 * The server opens that name. Ops opens the same with `?multiStatements=true` behind it, so it may have no parameters.
 */

/** The fields that name it. */
export interface MysqlFields {
  readonly url: string;
  readonly database?: string | undefined;
  /** Whether user and password are in files. */
  readonly hasFiles: boolean;
}

/** The field, and what is wrong with it. */
export interface MysqlProblem {
  readonly field: "url" | "database";
  readonly problem: string;
}

const plain = "expected host:port, for user and password are in files";
const full = "expected user:password@tcp(host:port)";

/** Why PipeCD cannot use these fields together; undefined where it can. */
export function mysqlProblem({ url, database = "", hasFiles }: MysqlFields): MysqlProblem | undefined {
  const ofUrl = (problem: string): MysqlProblem => ({ field: "url", problem });
  if (/[/?]/.test(database))
    return { field: "database", problem: "expected the name of a database, without / and ?" };
  if (hasFiles) return isAddress(url) ? undefined : ofUrl(plain);
  if (database === "" && !url.includes("/"))
    return ofUrl(`${full}/database, or the name of the database in the field database`);
  const name = database === "" ? url : `${url}/${database}`;
  const slash = name.lastIndexOf("/");
  const [left, databaseInName = ""] = [name.slice(0, slash), name.slice(slash + 1)];
  if (databaseInName.includes("?"))
    return ofUrl(
      "expected no parameters, for PipeCD puts its own behind the name of the database: leave out ? and what follows",
    );
  if (database !== "" && /\)\/[^)@]*$/.test(url))
    return ofUrl(`${full} without / and a database, for there is the field database: leave out one of them`);
  if (!isServer(left.slice(left.lastIndexOf("@") + 1)))
    return ofUrl(database === "" ? `${full}/database; a password with / needs the field database` : full);
  return databaseInName === ""
    ? ofUrl("expected the name of the database behind the last /, or in the field database")
    : undefined;
}

/** `tcp(host:port)` or `unix(/path)`; the network alone stands for its usual address. */
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
