/** Which stores of its namespace a control plane uses: its configuration has their addresses. Pure. */
import type { KubeObject } from "../../../bus/kube/object.ts";
import type { ControlPlane } from "../kinds.ts";

/** What a store is called in the names of its objects. */
export type StoreKind = "minio" | "mongo" | "mysql";

/** A store of the namespace. */
export interface StoreName {
  readonly kind: StoreKind;
  readonly name: string;
}

/** The store that is at an address, if it can be one of the namespace: `<name>-<kind>`, alone or as a name of the cluster. */
export function storeAt(host: string, { namespace = "" }: KubeObject["metadata"]): StoreName | undefined {
  const [service = "", ...rest] = host.split(".");
  const domain = rest.join(".");
  const isHere = domain === "" || domain === namespace || `${domain}.`.startsWith(`${namespace}.svc.`);
  const [, name, kind] = /^(.+)-(minio|mongo|mysql)$/.exec(service) ?? [];
  return isHere && name && kind ? { kind: kind as StoreKind, name } : undefined;
}

/**
 * `user:password@tcp(host:3306)`, or `host:3306` where files have user and password:
 * https://github.com/go-sql-driver/mysql#dsn-data-source-name
 */
const mysqlHost = (url: string): string =>
  (/\btcp\(([^):]+)/.exec(url) ?? /^([^:/@()]+):\d+$/.exec(url))?.[1] ?? "";
/** `scheme://user@host:port,host2/…`: of several hosts the first one. */
const urlHost = (url: string): string => /^[a-z][a-z0-9+]*:\/\/(?:[^@/]*@)?([^:/,?]+)/i.exec(url)?.[1] ?? "";

/** Where a control plane keeps its objects, if that is in the namespace. */
export function datastoreOf({
  metadata,
  spec,
}: Pick<ControlPlane, "metadata" | "spec">): StoreName | undefined {
  const { mongoDBConfig, mysqlConfig } = spec.config.datastore ?? {};
  if (mongoDBConfig) return storeAt(urlHost(mongoDBConfig.url), metadata);
  if (mysqlConfig) return storeAt(mysqlHost(mysqlConfig.url), metadata);
  return undefined;
}

/** Where it keeps its files. */
export function filestoreOf({
  metadata,
  spec,
}: Pick<ControlPlane, "metadata" | "spec">): StoreName | undefined {
  const { minioConfig } = spec.config.filestore ?? {};
  return minioConfig && storeAt(urlHost(minioConfig.endpoint), metadata);
}

/** Whether a control plane uses a store. */
export const isUsed = (plane: ControlPlane, { kind, name }: StoreName): boolean =>
  [datastoreOf(plane), filestoreOf(plane)].some((used) => used?.kind === kind && used.name === name);
