/** Finds the stores that a control plane uses, by the addresses in its configuration. Pure. */
import type { KubeObject } from "denrei/kinds";
import type { ControlPlane } from "../kinds.ts";

/** The suffix of object names of a store. */
export type StoreKind = "minio" | "mongo" | "mysql";

/** A store of the namespace. */
export interface StoreName {
  readonly kind: StoreKind;
  readonly name: string;
}

/** The store of the namespace at an address: `<name>-<kind>`, alone or as a DNS name of the cluster. Undefined for other addresses. */
export function storeAt(host: string, { namespace = "" }: KubeObject["metadata"]): StoreName | undefined {
  const [service = "", ...rest] = host.split(".");
  const domain = rest.join(".");
  const isHere = domain === "" || domain === namespace || `${domain}.`.startsWith(`${namespace}.svc.`);
  const [, name, kind] = /^(.+)-(minio|mongo|mysql)$/.exec(service) ?? [];
  return isHere && name && kind ? { kind: kind as StoreKind, name } : undefined;
}

/**
 * `user:password@tcp(host:3306)`, or `host:3306` if user and password are in files:
 * https://github.com/go-sql-driver/mysql#dsn-data-source-name
 */
const mysqlHost = (url: string): string =>
  (/\btcp\(([^):]+)/.exec(url) ?? /^([^:/@()]+):\d+$/.exec(url))?.[1] ?? "";
/** The first host of `scheme://user@host:port,host2/…`. */
const urlHost = (url: string): string => /^[a-z][a-z0-9+]*:\/\/(?:[^@/]*@)?([^:/,?]+)/i.exec(url)?.[1] ?? "";

/** The datastore of a control plane, if it is a store of the namespace. */
export function datastoreOf({
  metadata,
  spec,
}: Pick<ControlPlane, "metadata" | "spec">): StoreName | undefined {
  const { mongoDBConfig, mysqlConfig } = spec.config.datastore ?? {};
  if (mongoDBConfig) return storeAt(urlHost(mongoDBConfig.url), metadata);
  if (mysqlConfig) return storeAt(mysqlHost(mysqlConfig.url), metadata);
  return undefined;
}

/** The filestore of a control plane, if it is a store of the namespace. */
export function filestoreOf({
  metadata,
  spec,
}: Pick<ControlPlane, "metadata" | "spec">): StoreName | undefined {
  const { minioConfig } = spec.config.filestore ?? {};
  return minioConfig && storeAt(urlHost(minioConfig.endpoint), metadata);
}

export const isUsed = (plane: ControlPlane, { kind, name }: StoreName): boolean =>
  [datastoreOf(plane), filestoreOf(plane)].some((used) => used?.kind === kind && used.name === name);
