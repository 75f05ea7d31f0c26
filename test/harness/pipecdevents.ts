/** A stack whose application has an event watcher: the repository of its piped, and EventRegistrations for it. */
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Repository } from "../../deploy/simulators/pipecd/repository.ts";
import { pipecdClient } from "../../functions/pipecd/api/client.ts";
import type { PipecdClient } from "../../functions/pipecd/api/services.ts";
import { EventRegistration } from "../../functions/pipecd/kinds.ts";
import type { Pipecd } from "./pipecd.ts";
import { names, polling, type Stack, startStack } from "./pipecdstack.ts";

/** What tests do with EventRegistrations of a stack. */
export interface EventStack extends Stack {
  readonly repository: Repository;
  /** Creates an EventRegistration that uses the shared API key. */
  register(name: string, spec: Partial<EventRegistration["spec"]>): Promise<void>;
  /** Changes its data. */
  setData(name: string, data: string): Promise<void>;
  /** Resolves when the event with this data is in this state. */
  untilState(
    name: string,
    data: string,
    state: NonNullable<NonNullable<EventRegistration["status"]>["registered"]>["state"],
  ): Promise<Stored<EventRegistration>>;
  /** A client with the API key of the project, like `pipectl`. */
  api(): Promise<PipecdClient>;
  /** The data of all events with a name, in the order of registration. */
  registered(name: string): string[];
}

/** Adds a second project, whose API keys are not valid for the first. */
const withSecond = ({ projects, ...config }: { projects: readonly object[] }) => ({
  ...config,
  projects: [...projects, { ...projects[0], id: "second" }],
});

/** Starts a sample with API keys and waits until it is ready. */
export async function startEventStack(
  pipecd: Pipecd,
  namespace: string,
  repositories: ReadonlyMap<string, Repository>,
): Promise<EventStack> {
  const stack = await startStack(pipecd, "c", namespace, (object) =>
    object.kind === "ControlPlane"
      ? {
          ...object,
          spec: { ...object.spec, bootstrapAPIKeys: true, config: withSecond(object.spec.config) },
        }
      : object,
  );
  const [repository] = repositories.values();
  if (repository === undefined) throw new Error("expected a repository");
  const kind = EventRegistration as unknown as Kind;
  return {
    ...stack,
    repository,
    async register(name, spec) {
      const common = { name, projectID: "quickstart", insecure: true };
      await stack.create(kind, {
        kind: EventRegistration.kind,
        metadata: { name },
        spec: { ...common, ...spec },
      });
    },
    setData: (name, data) => stack.edit(kind, name, { source: { data } }),
    untilState: (name, data, state) =>
      stack.until(
        EventRegistration,
        name,
        ({ status }) => status?.registered?.data === data && status.registered.state === state,
      ),
    async api() {
      const { data } = await stack.get(Secret, `${names.plane}-api-keys`);
      const { web, api } = pipecd.pods;
      return pipecdClient({
        profile: "C",
        projectID: "quickstart",
        web: { address: web, tls: undefined },
        api: { address: api, tls: undefined },
        encryptionKey: Buffer.alloc(0),
        apiKey: Buffer.from(data?.quickstart ?? "", "base64").toString(),
        signal: AbortSignal.timeout(polling.timeout),
      });
    },
    registered: (name) =>
      stack
        .server()
        .events()
        .filter((one) => one.name === name)
        .map(({ data }) => data),
  };
}
