/** Helpers for tests of RemoteSyncs: actions on GitHub and kpack, and their results. */
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { Build, Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { kpack, labels } from "../../functions/paas/names.ts";
import type { Paas } from "./paas.ts";
import { has } from "./testobjects.ts";

type GitHub = RemoteSync["spec"]["base"]["github"];

/** Creates RemoteSyncs and reads their results. The repository is `acme/web`. */
export interface RemoteSyncs {
  /** Creates a branch at the head of `main`; resolves with its commit. */
  branch(name: string): Promise<string>;
  /** Commits to a branch, which GitHub reports by webhook if there are gateways; resolves with the commit. */
  push(branch: string): Promise<string>;
  /** Creates the Application and the RemoteSync of this name, for a branch of the same name; resolves when it is ready. */
  start(
    name: string,
    github?: Partial<GitHub>,
    spec?: Partial<RemoteSync["spec"]>,
  ): Promise<Stored<RemoteSync>>;
  get(name: string): Promise<Stored<RemoteSync>>;
  /** Resolves when it is ready, at this revision if given. */
  ready(name: string, revision?: string): Promise<Stored<RemoteSync>>;
  /** Resolves when it is not ready for this reason, or a step has the status for it. */
  until(
    name: string,
    reason: string,
    type?: string,
    status?: "True" | "False" | "Unknown",
  ): Promise<Stored<RemoteSync>>;
  application(name: string): Promise<Stored<Application>>;
  /** Resolves when the Application's pods run its image, so that its function has nothing more to write. */
  rolledOut(name: string): Promise<void>;
  /** The same for all RemoteSyncs. */
  allRolledOut(): Promise<void>;
  /** Its kpack Image, if it exists. */
  image(name: string): Promise<Stored<Image> | undefined>;
  /** All of its Builds, by number. */
  builds(name: string): Promise<Stored<Build>[]>;
  /** Tells the simulated build pods what to do with the next Builds. Null removes the annotation. */
  steer(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void>;
  /** Triggers a rebuild as kpack's own CLI does. */
  rebuild(build: Stored<Build>): Promise<void>;
  /** Notes of all Events about it with this reason. */
  notes(name: string, reason: string): Promise<string[]>;
  /** Requests that clients sent to GitHub since the last call, in order. */
  asked(): string[];
}

/** Helpers for RemoteSyncs. */
export function remoteSyncs(paas: Paas): RemoteSyncs {
  const { environment, github, namespace } = paas;
  const { client } = environment;
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
      environment.until(
        RemoteSync,
        { name },
        (sync) =>
          has("Ready", "True")(sync) && (revision === undefined || sync.status?.revision === revision),
      ),
    until: (name, reason, type = "Ready", status = "False") =>
      environment.until(RemoteSync, { name }, has(type, status, reason)),
    application: (name) => client.get(Application, at(name)),
    async rolledOut(name) {
      await environment.until(
        Application,
        { name },
        (found) =>
          has("Ready", "True")(found) && found.status?.observedGeneration === found.metadata.generation,
      );
    },
    async allRolledOut() {
      for (const { metadata } of await environment.list(Application)) await syncs.rolledOut(metadata.name);
    },
    image: async (name) => (await environment.list(Image)).find((image) => isOf(name, image)),
    async builds(name) {
      const found = (await environment.list(Build)).filter((build) => isOf(name, build));
      return found.sort((a, b) => numberOf(a) - numberOf(b));
    },
    async steer(name, annotations) {
      const image = await syncs.image(name);
      if (image === undefined) throw new Error(`${name} has no Image to steer`);
      await paas.patch(Image, image.metadata.name, { metadata: { annotations } });
      // The next change may concern a builder or a Build, whose event can arrive before that of the Image.
      if (environment.origin === "local") await paas.kpack.caughtUp();
    },
    async rebuild({ metadata: { name } }) {
      await paas.patch(Build, name, { metadata: { annotations: { [kpack.rebuild]: "test" } } });
    },
    async notes(name, reason) {
      const events = await paas.events(name);
      // Objects of other kinds have the same name.
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

/** The number in a Build's label. */
export const numberOf = ({ metadata }: Build): number =>
  Number(metadata.labels?.["image.kpack.io/buildNumber"]);
/** The commit of a Build. */
export const revisionOf = ({ spec }: Build): string | undefined => spec.source?.git?.revision;
