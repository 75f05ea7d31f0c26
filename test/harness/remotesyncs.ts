/** What tests of RemoteSyncs do on GitHub and with kpack, and what they look at. */
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { Build, Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { kpack, labels } from "../../functions/paas/names.ts";
import type { Paas } from "./paas.ts";
import { has } from "./world.ts";

type GitHub = RemoteSync["spec"]["base"]["github"];

/** Ways to have RemoteSyncs and to see what they came to. The repository is `acme/web`. */
export interface RemoteSyncs {
  /** Makes a branch where `main` is; its commit. */
  branch(name: string): Promise<string>;
  /** Commits to a branch, which webhooks tell of if there are gateways; the commit. */
  push(branch: string): Promise<string>;
  /** The Application and the RemoteSync of that name, of a branch of its own; resolves when it is ready. */
  start(
    name: string,
    github?: Partial<GitHub>,
    spec?: Partial<RemoteSync["spec"]>,
  ): Promise<Stored<RemoteSync>>;
  get(name: string): Promise<Stored<RemoteSync>>;
  /** Resolves when it is ready, of that revision if it is given. */
  ready(name: string, revision?: string): Promise<Stored<RemoteSync>>;
  /** Resolves when it is not ready for that reason, or a step has the status for it. */
  until(
    name: string,
    reason: string,
    type?: string,
    status?: "True" | "False" | "Unknown",
  ): Promise<Stored<RemoteSync>>;
  application(name: string): Promise<Stored<Application>>;
  /** Resolves when the pods of the Application run its image, so that its function has nothing more to write. */
  rolledOut(name: string): Promise<void>;
  /** The same of all that there are. */
  allRolledOut(): Promise<void>;
  /** kpack's Image of it, if there is one. */
  image(name: string): Promise<Stored<Image> | undefined>;
  /** All Builds that there are of it, by number. */
  builds(name: string): Promise<Stored<Build>[]>;
  /** Tells whoever plays the build pods what to do with those of the next Builds. Null takes it back. */
  steer(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void>;
  /** What kpack's own button does. */
  rebuild(build: Stored<Build>): Promise<void>;
  /** Notes of all Events about it with that reason. */
  notes(name: string, reason: string): Promise<string[]>;
  /** What clients have asked GitHub since the last time, in order. */
  asked(): string[];
}

/** Opens them. */
export function remoteSyncs(paas: Paas): RemoteSyncs {
  const { kit, github, namespace } = paas;
  const { client } = kit;
  const at = (name: string) => ({ namespace, name });
  let seen = 0;

  const syncs: RemoteSyncs = {
    async branch(name) {
      const main = await github.api<{ commit: { sha: string } }>("GET", "/repos/acme/web/branches/main");
      const { sha } = main.commit;
      await github.api("POST", "/repos/acme/web/git/refs", { ref: `refs/heads/${name}`, sha });
      return sha;
    },
    push: async (branch) => (await github.push({ repository: "acme/web", branch })).after,
    async start(name, base = {}, spec = {}) {
      await Promise.all([
        paas.application(name),
        Object.keys(base).length === 0 ? syncs.branch(name) : undefined,
      ]);
      await paas.remoteSync(name, { ...(Object.keys(base).length === 0 && { branch: name }), ...base }, spec);
      return syncs.ready(name);
    },
    get: (name) => client.get(RemoteSync, at(name)),
    ready: (name, revision) =>
      kit.until(
        RemoteSync,
        { name },
        (sync) =>
          has("Ready", "True")(sync) && (revision === undefined || sync.status?.revision === revision),
      ),
    until: (name, reason, type = "Ready", status = "False") =>
      kit.until(RemoteSync, { name }, has(type, status, reason)),
    application: (name) => client.get(Application, at(name)),
    async rolledOut(name) {
      await kit.until(
        Application,
        { name },
        (found) =>
          has("Ready", "True")(found) && found.status?.observedGeneration === found.metadata.generation,
      );
    },
    async allRolledOut() {
      for (const { metadata } of await kit.list(Application)) await syncs.rolledOut(metadata.name);
    },
    image: async (name) => (await kit.list(Image)).find((image) => isOf(name, image)),
    async builds(name) {
      const found = (await kit.list(Build)).filter((build) => isOf(name, build));
      return found.sort((a, b) => numberOf(a) - numberOf(b));
    },
    async steer(name, annotations) {
      const image = await syncs.image(name);
      if (image === undefined) throw new Error(`expected an Image of ${name} to steer, found none`);
      await paas.patch(Image, image.metadata.name, { metadata: { annotations } });
      // What comes next may be about a builder or a Build, whose event can be quicker than that of the Image.
      if (kit.origin === "local") await paas.kpack.caughtUp();
    },
    async rebuild({ metadata: { name } }) {
      await paas.patch(Build, name, { metadata: { annotations: { [kpack.rebuild]: "test" } } });
    },
    async notes(name, reason) {
      const events = await paas.events(name);
      // Others are called so, too.
      const own = events.filter(({ regarding }) => regarding.kind === RemoteSync.kind);
      return own.filter((event) => event.reason === reason).map(({ note }) => note);
    },
    asked() {
      const all = github.requests();
      const since = all.slice(seen).filter(({ path }) => path.startsWith("/repos/"));
      seen = all.length;
      return since.map(({ method, path }) => `${method} ${path.toLowerCase()}`);
    },
  };
  return syncs;
}

const isOf = (name: string, { metadata }: KubeObject): boolean =>
  metadata.labels?.[labels.remoteSync] === name;

/** Of a Build's label. */
export const numberOf = ({ metadata }: Build): number =>
  Number(metadata.labels?.["image.kpack.io/buildNumber"]);
/** The commit that a Build is of. */
export const revisionOf = ({ spec }: Build): string | undefined => spec.source?.git?.revision;
