/** Services of a control plane: their methods, and how a call goes through one. */
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

/** The ports of a control plane: for the web console, for holders of API keys, for pipeds. */
export type Port = "web" | "api" | "piped";

/** A generated service. */
export type GeneratedService = Omit<DescService, "method"> & {
  readonly method: Readonly<Record<string, DescMethod>>;
};

/** What answers the methods of a service. Each throws `RpcError` for what is no success. */
export type Handlers<Service extends GeneratedService, Caller> = {
  readonly [Name in keyof Service["method"]]: (
    request: MessageShape<Service["method"][Name]["input"]>,
    caller: Caller,
  ) => MessageInitShape<Service["method"][Name]["output"]>;
};

/** What a method is called with, after its request was decoded. */
export interface Invocation {
  readonly metadata: Metadata;
  readonly request: Message;
  /** Told as soon as it is known who calls. */
  readonly calledBy: (project: string) => void;
}

/** A method, from authentication to answer. */
export interface Method {
  readonly name: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  invoke(invocation: Invocation): Message;
}

/** A service that listens at one of the ports. */
export interface Service {
  readonly port: Port;
  readonly name: string;
  readonly methods: ReadonlyMap<string, Method>;
  /** Whether the credentials are of this control plane, valid or not: it may be one of several behind a port. */
  knows(metadata: Metadata): boolean;
}

/** What makes a service of handlers. */
export interface ServiceParts<Generated extends GeneratedService, Caller> {
  readonly port: Port;
  readonly service: Generated;
  readonly handlers: Handlers<Generated, Caller>;
  /** Methods that take anything and have nothing to say. */
  readonly empty?: readonly string[];
  readonly rules: Rules;
  /** Who calls, and whether they may call this method: throws `RpcError` if not. */
  readonly authenticate: (metadata: Metadata, method: string) => Caller;
  readonly projectOf: (caller: Caller) => string;
  readonly knows: (metadata: Metadata) => boolean;
}

/** A service whose calls are authenticated, then validated, then handled. */
export function openService<Generated extends GeneratedService, Caller>(
  parts: ServiceParts<Generated, Caller>,
): Service {
  const { port, service, empty = [], rules, authenticate, projectOf, knows } = parts;
  // Of the messages' types, only the generated code knows.
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
