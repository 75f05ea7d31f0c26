/** URLs of repository folders, built as PipeCD does for applications. */

const schemes = new Set(["ssh", "git", "git+ssh", "http", "https", "rsync", "file"]);
const url = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/(?:[^/@]*@)?([^/?#]*)([^?#]*)/;
const scp = /^(?:[a-zA-Z0-9_]+@)?([a-zA-Z0-9._-]+):(.*)$/;
const folders: Readonly<Record<string, string>> = { "bitbucket.org": "src" };

/** Undefined when the remote is not a valid git URL or the branch is empty. */
export function folderUrl(remote: string, path: string, branch: string): string | undefined {
  const parts = partsOf(remote);
  if (branch === "" || parts === undefined) return undefined;
  const { scheme, host } = parts;
  const repository = trimmed(parts.path).replace(/\.git$/, "");
  return `${scheme}://${host}/${repository}/${folders[host] ?? "tree"}/${branch}/${trimmed(path)}`;
}

function partsOf(remote: string): { scheme: string; host: string; path: string } | undefined {
  const [, scheme = "", host = "", path = ""] = url.exec(remote) ?? [];
  if (schemes.has(scheme)) return { scheme: scheme === "ssh" ? "https" : scheme, host, path };
  const short = scp.exec(remote);
  return short === null ? undefined : { scheme: "https", host: short[1] ?? "", path: short[2] ?? "" };
}

const trimmed = (path: string): string => path.replace(/^\/+|\/+$/g, "");
