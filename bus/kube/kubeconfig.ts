/**
 * Reads the address of the API server and the user's credentials from files.
 *
 * This module rereads certificate and token files and a pod's service account every time, because they are replaced while
 * processes run. Everything else (plugins, providers, proxies, several files) is left to `@kubernetes/client-node`. It is loaded
 * only when needed: it has a class for every kind of Kubernetes, and takes 70 MB and a fifth of a second.
 */
import { accessSync, existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { CredentialsError } from "./errors.ts";
import { impersonationHeaders, plainUser, type RequestHeaders, unreadFields } from "./kubeconfiguser.ts";

/** Where to find the configuration. */
export interface KubeconfigSource {
  /** Path of a kubeconfig. Default: KUBECONFIG, then `~/.kube/config`, then the pod's service account. */
  readonly path?: string | undefined;
  /** Context to use instead of the current one. */
  readonly context?: string | undefined;
}

/** The TLS options of Node that are used. */
export type TlsOptions = Readonly<
  Partial<{
    ca: Buffer | string;
    cert: Buffer | string;
    key: Buffer | string;
    pfx: Buffer | string;
    passphrase: string;
    rejectUnauthorized: boolean;
    servername: string;
  }>
>;

/** One server and one user. */
export interface Access {
  /** `https://host:port`, with a path prefix if it has one. */
  readonly server: string;
  readonly context: string;
  readonly namespace: string;
  readonly proxy?: string | undefined;
  readonly tls: TlsOptions;
  /** Authorization and impersonation. */
  readonly headers: RequestHeaders;
}

/** A kubeconfig that is read whenever it may have changed. */
export interface Kubeconfig {
  /**
   * Reads the current content. `renew` requests cached credentials from a plugin again. Throws {@link KubeconfigError} and
   * {@link CredentialsError}.
   */
  read(freshness: "cached" | "renew"): Promise<Access>;
}

/** The kubeconfig names no usable server. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Finds the kubeconfig without reading it. */
export function loadKubeconfig(source: KubeconfigSource = {}): Kubeconfig {
  const path = source.path ?? onlyFile();
  const complete = completeReader(source, path);
  return {
    async read(freshness) {
      if (path !== undefined && !existsSync(path)) {
        throw new KubeconfigError(
          `expected a kubeconfig at ${path}, found no file. Set --kubeconfig or KUBECONFIG.`,
        );
      }
      const plain = path === undefined ? await readServiceAccount() : await readPlain(path, source.context);
      return plain ?? complete(freshness);
    },
  };
}

/** The path of the kubeconfig if it is a single file. The library merges several. */
function onlyFile(): string | undefined {
  const { KUBECONFIG, HOME } = process.env;
  if (KUBECONFIG) return KUBECONFIG.includes(delimiter) ? undefined : KUBECONFIG;
  const usual = join(HOME ?? "", ".kube", "config");
  return HOME && process.platform !== "win32" && canRead(usual) ? usual : undefined;
}

/** The files that the library reads. */
const files = (path: string | undefined): readonly string[] =>
  path === undefined ? (process.env.KUBECONFIG ?? "").split(delimiter).filter(Boolean) : [path];

function canRead(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Strict: a file with any other field is left to the library. */
const plainCluster = z.strictObject({
  server: z.string().regex(/^https:/),
  "certificate-authority": z.string().min(1).optional(),
  "certificate-authority-data": z.string().min(1).optional(),
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": z.string().min(1).optional(),
  extensions: z.unknown().optional(),
});
const named = <T extends z.ZodType>(field: string, type: T) =>
  z.array(z.object({ name: z.string(), [field]: type } as { name: z.ZodString } & Record<string, T>));
const anything = z.unknown();
const namedUsers = named("user", anything);
const plainConfig = z.object({
  "current-context": z.string().optional(),
  contexts: named(
    "context",
    z.object({ cluster: z.string(), user: z.string(), namespace: z.string().optional() }),
  ),
  clusters: named("cluster", anything),
  users: namedUsers,
});

/** The access in a kubeconfig with only certificates and tokens; undefined for any other. */
async function readPlain(path: string, wanted: string | undefined): Promise<Access | undefined> {
  let found: unknown;
  try {
    // A pod's service account does not need the parser.
    const [{ parse }, text] = await Promise.all([import("yaml"), readFile(path, "utf8")]);
    found = parse(text);
  } catch (error) {
    throw unreadable(path, error);
  }
  const config = plainConfig.safeParse(found).data;
  const context = wanted ?? config?.["current-context"];
  const names = config?.contexts.find(({ name }) => name === context)?.context;
  if (config === undefined || context === undefined || names === undefined) return undefined;
  const cluster = plainCluster.safeParse(
    config.clusters.find(({ name }) => name === names.cluster)?.cluster,
  ).data;
  const user = plainUser.safeParse(config.users.find(({ name }) => name === names.user)?.user ?? {}).data;
  if (cluster === undefined || user === undefined) return undefined;
  const read = async (file: string | undefined, data: string | undefined): Promise<Buffer | undefined> =>
    file !== undefined
      ? await readReferred(resolve(dirname(path), file), context)
      : data === undefined
        ? undefined
        : Buffer.from(data, "base64");
  const [ca, cert, key, tokenOfFile] = await Promise.all([
    read(cluster["certificate-authority"], cluster["certificate-authority-data"]),
    read(user["client-certificate"], user["client-certificate-data"]),
    read(user["client-key"], user["client-key-data"]),
    read(user.tokenFile, undefined),
  ]);
  const token = tokenOfFile?.toString("utf8").trim() ?? user.token;
  return {
    server: cluster.server.replace(/\/$/, ""),
    context,
    namespace: names.namespace ?? "default",
    tls: defined({
      ca,
      cert,
      key,
      servername: cluster["tls-server-name"],
      rejectUnauthorized: cluster["insecure-skip-tls-verify"] ? false : undefined,
    }),
    headers: { ...bearer(token), ...impersonating(user, context) },
  };
}

const bearer = (token: string | undefined): RequestHeaders =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

function impersonating(user: Parameters<typeof impersonationHeaders>[0], context: string): RequestHeaders {
  try {
    return impersonationHeaders(user);
  } catch (error) {
    throw new KubeconfigError(
      `expected the kubeconfig's context "${context}" to be usable, but its user has ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

/** A file that a kubeconfig names. */
async function readReferred(path: string, context: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new KubeconfigError(
      `expected the kubeconfig's context "${context}" to be usable, but ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

/** The access of a pod, like client-go's `rest.InClusterConfig`; undefined outside of a pod. */
async function readServiceAccount(): Promise<Access | undefined> {
  const { KUBECONFIG, KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port } = process.env;
  if (KUBECONFIG || host === "" || !port || !canRead(join(serviceAccount, "token"))) return undefined;
  const read = (name: string) => readReferred(join(serviceAccount, name), "the pod's service account");
  const [ca, token, namespace] = await Promise.all([
    read("ca.crt"),
    read("token"),
    read("namespace").catch(() => "default"),
  ]);
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    context: "the pod's service account",
    namespace: namespace.toString().trim(),
    tls: { ca },
    headers: bearer(token.toString("utf8").trim()),
  };
}

/** Headers of user fields that the library drops silently: a token in a file, and all impersonation fields except the user's name. */
async function unreadHeaders(
  paths: readonly string[],
  user: string | undefined,
  context: string,
): Promise<RequestHeaders> {
  const { parse } = await import("yaml");
  for (const path of paths) {
    const text = await readFile(path, "utf8").catch(() => "");
    const users: unknown = (parse(text) as { users?: unknown } | null)?.users;
    const entry = namedUsers.safeParse(users).data?.find(({ name }) => name === user);
    if (entry === undefined) continue;
    const fields = unreadFields.safeParse(entry.user ?? {});
    if (!fields.success) {
      const cause = fields.error;
      throw new KubeconfigError(
        `expected the user "${user}" of the kubeconfig ${path} to be one, found ${z.prettifyError(cause)}`,
        { cause },
      );
    }
    const { tokenFile } = fields.data;
    const token = tokenFile && (await readReferred(resolve(dirname(path), tokenFile), context));
    return { ...bearer(token?.toString("utf8").trim()), ...impersonating(fields.data, context) };
  }
  return {};
}

/** Reads other kubeconfigs with the library, which caches the credentials of plugins until they are renewed. */
function completeReader(
  source: KubeconfigSource,
  path: string | undefined,
): (freshness: "cached" | "renew") => Promise<Access> {
  let kept: InstanceType<typeof import("@kubernetes/client-node").KubeConfig> | undefined;

  async function load() {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    try {
      if (path === undefined) config.loadFromDefault();
      else config.loadFromFile(path);
    } catch (error) {
      throw unreadable(files(path).join(delimiter), error);
    }
    if (source.context !== undefined) config.setCurrentContext(source.context);
    return config;
  }

  return async (freshness) => {
    if (kept === undefined || freshness === "renew") kept = await load();
    const config = kept;
    const context = config.getCurrentContext();
    const cluster = config.getCurrentCluster();
    // Without any configuration the library falls back to http://localhost:8080, which is never intended.
    if (cluster === null || cluster.server === "http://localhost:8080") {
      throw new KubeconfigError(
        `expected a kubeconfig with a current context, found ${cluster === null ? `none (context "${context}")` : "no configuration at all"}. ` +
          "Set KUBECONFIG or --kubeconfig, or run inside a pod; `denrei up` starts a local control plane.",
      );
    }
    const options: Parameters<typeof config.applyToHTTPSOptions>[0] = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw unusable(context, error as Error);
    }
    const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options as TlsOptions;
    const { headers = {}, auth } = options as { headers?: Record<string, string>; auth?: string };
    return {
      server: cluster.server.replace(/\/$/, ""),
      context,
      namespace: config.getContextObject(context)?.namespace ?? "default",
      proxy: cluster.proxyUrl,
      tls: defined({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }),
      headers: {
        ...(auth !== undefined && { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        ...(await unreadHeaders(files(path), config.getCurrentUser()?.name, context)),
      },
    };
  };
}

const unreadable = (path: string, error: unknown): KubeconfigError =>
  new KubeconfigError(`the kubeconfig ${path} cannot be read: ${(error as Error).message}`, {
    cause: error,
  });

/** A missing plugin or file is permanent. A failing plugin depends on another service, which may recover. */
function unusable(context: string, error: Error): Error {
  const text = `expected the kubeconfig's context "${context}" to be usable, but ${error.message}.`;
  const missing = /ENOENT|EACCES|HTTP protocol is not allowed|Unsupported proxy/.test(error.message);
  return missing
    ? new KubeconfigError(text, { cause: error })
    : new CredentialsError(`${text} Check the source of the credentials: a plugin or an identity provider.`, {
        cause: error,
      });
}

const defined = (tls: { readonly [K in keyof TlsOptions]: TlsOptions[K] | undefined }): TlsOptions =>
  Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)) as TlsOptions;
