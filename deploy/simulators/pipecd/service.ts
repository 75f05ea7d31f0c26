/** Services of a control plane, and the steps of a call. */
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { Metadata } from "./metadata.ts";
import { type Rules, validate } from "./validation.ts";

/** Ports of a control plane: for the web console, for API keys, and for pipeds. */
export type Port = "web" | "api" | "piped";

/** A generated service. */
export type GeneratedService = Omit<DescService, "method"> & {
  readonly method: Readonly<Record<string, DescMethod>>;
};

/** Handlers of a service's methods. Each throws `RpcError` on failure. */
export type Handlers<Service extends GeneratedService, Caller> = {
  readonly [Name in keyof Service["method"]]: (
    request: MessageShape<Service["method"][Name]["input"]>,
    caller: Caller,
  ) => MessageInitShape<Service["method"][Name]["output"]>;
};

/** Arguments of a method call, after decoding. */
export interface Invocation {
  readonly metadata: Metadata;
  readonly request: Message;
  /** Called with the project once the caller is authenticated. */
  readonly calledBy: (project: string) => void;
}

/** A method: authentication, validation, and handling. */
export interface Method {
  readonly name: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  invoke(invocation: Invocation): Message;
}

/** A service on one of the ports. */
export interface Service {
  readonly port: Port;
  readonly name: string;
  readonly methods: ReadonlyMap<string, Method>;
  /** Whether the credentials, valid or not, belong to this control plane; several may share a port. */
  knows(metadata: Metadata): boolean;
}

/** Parts of a service. */
export interface ServiceParts<Generated extends GeneratedService, Caller> {
  readonly port: Port;
  readonly service: Generated;
  readonly handlers: Handlers<Generated, Caller>;
  /** Methods that accept any request and return an empty response. */
  readonly empty?: readonly string[];
  readonly rules: Rules;
  /** Authenticates and authorizes the caller. Throws `RpcError` on failure. */
  readonly authenticate: (metadata: Metadata, method: string) => Caller;
  readonly projectOf: (caller: Caller) => string;
  readonly knows: (metadata: Metadata) => boolean;
}

/** Creates a service whose calls are authenticated, validated, and handled. */
export function openService<Generated extends GeneratedService, Caller>(
  parts: ServiceParts<Generated, Caller>,
): Service {
  const { port, service, empty = [], rules, authenticate, projectOf, knows } = parts;
  // The message types are only known to the generated code.
  const handlers = parts.handlers as unknown as Readonly<Record<string, Handle<Caller>>>;
  const methodOf = (
    { name, input, output }: Pick<DescMethod, "name" | "input" | "output">,
    handle: Handle<Caller>,
  ): Method => ({
    name,
    input,
    output,
    invoke({ metadata, request, calledBy }) {
      const caller = authenticate(metadata, name);
      calledBy(projectOf(caller));
      validate(rules, input, request);
      return create(output, handle(request, caller));
    },
  });
  const methods = [
    ...service.methods.map((method) => methodOf(method, handlers[method.localName] as Handle<Caller>)),
    ...empty.map((name) => methodOf({ name, input: EmptySchema, output: EmptySchema }, () => ({}))),
  ];
  const byName = new Map(methods.map((method) => [method.name, method]));
  return { port, name: service.typeName, methods: byName, knows };
}

type Handle<Caller> = (request: Message, caller: Caller) => MessageInitShape<DescMessage>;
