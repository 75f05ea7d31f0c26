/** A process of a control plane's server. It keeps the settings that it has read at its start until it ends. */
import { type DescMessage, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import type { Answers } from "./answers.ts";
import type { Answer, Call, Outcome } from "./call.ts";
import type { Metadata } from "./metadata.ts";
import type { Method, Service } from "./service.ts";
import { internal, ok, Panic, RpcError, unavailable } from "./status.ts";

/** What a server reads when it starts. */
export interface Startup {
  /** Projects of the configuration file. */
  readonly projects: readonly string[];
  /** All of its bytes sign tokens. */
  readonly encryptionKey: string | Buffer;
}

/** One process. Several of them may share a database, as the pods of a rollout do. */
export interface ServerProcess {
  readonly services: readonly Service[];
  readonly isUp: boolean;
  /** Answers a call. */
  perform(service: Service, method: Method, metadata: Metadata, body: Uint8Array): Promise<Outcome>;
  /** Ends the process: calls that wait for their answers do not get them. */
  end(): void;
}

/** What the processes of one control plane share. */
export interface ProcessGround {
  readonly calls: Call[];
  readonly answers: Answers;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Starts a process with these services. */
export function openProcess(
  services: readonly Service[],
  { calls, answers, clock }: ProcessGround,
): ServerProcess {
  const death = Promise.withResolvers<void>();
  let isUp = true;

  function end(): void {
    isUp = false;
    death.resolve();
  }

  return {
    services,
    get isUp() {
      return isUp;
    },
    end,
    async perform(service, method, metadata, body) {
      if (!isUp) return "ended";
      const { answer, call } = handled(service, method, metadata, body, clock());
      calls.push(call);
      if (answer === undefined) end();
      const ended = death.promise.then(() => "ended" as const);
      const passed = answers.pass(call).then((passes) => (passes && answer) || "reset");
      return Promise.race([ended, passed]);
    },
  };
}

/** Decodes, then authenticates, validates and handles. There is no answer when the process ends of it. */
function handled(
  service: Service,
  method: Method,
  metadata: Metadata,
  body: Uint8Array,
  at: number,
): { answer: Answer | undefined; call: Call } {
  const { input, output } = method;
  let project: string | undefined;
  let request: Message | undefined;
  const ended = (code: number, message: string, reply?: Uint8Array) => ({
    answer: { code, message, ...(reply && { body: reply }) },
    call: callOf(code, message),
  });
  const callOf = (code: number, message: string): Call => ({
    ...{ at, project, code, message },
    service: service.name,
    method: method.name,
    request: request && toJson(input, request),
  });
  try {
    request = decoded(input, body);
    const calledBy = (of: string) => {
      project = of;
    };
    return ended(ok, "", toBinary(output, method.invoke({ metadata, request, calledBy })));
  } catch (error) {
    if (error instanceof RpcError) return ended(error.code, error.message);
    if (!(error instanceof Panic)) throw error;
    return { answer: undefined, call: callOf(unavailable, error.message) };
  }
}

function decoded(schema: DescMessage, body: Uint8Array): Message {
  try {
    return fromBinary(schema, body);
  } catch (error) {
    // What decodes text throws this.
    const problem =
      error instanceof TypeError
        ? "string field contains invalid UTF-8"
        : "proto: cannot parse invalid wire-format data";
    throw new RpcError(internal, `grpc: error unmarshalling request: ${problem}`);
  }
}
