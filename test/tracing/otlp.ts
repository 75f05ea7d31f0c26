/**
 * Decodes an `ExportTraceServiceRequest` by the field numbers of its definition, independently of the SDK that encoded it.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
 */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** The value of an attribute. */
export type Value = string | number | boolean | readonly Value[] | undefined;

/** A link to a span of this or another trace. */
export interface Link {
  readonly traceId: string;
  readonly spanId: string;
}

/** A span and its service. */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: "unspecified" | "internal" | "server" | "client" | "producer" | "consumer";
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly links: readonly Link[];
  readonly failed: boolean;
  readonly resource: Readonly<Record<string, Value>>;
}

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;
const statusError = 2;

/** The fields of a message by number, each as often as it occurs. */
type Fields = ReadonlyMap<number, readonly unknown[]>;

function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, unknown[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const value =
      type === WireType.LengthDelimited
        ? reader.bytes()
        : type === WireType.Bit64
          ? BigInt(reader.fixed64())
          : type === WireType.Varint
            ? Number(reader.int64())
            : reader.skip(type, number);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const all = <T>(fields: Fields, number: number): readonly T[] => (fields.get(number) ?? []) as readonly T[];
const messages = (fields: Fields, number: number): Fields[] => all<Uint8Array>(fields, number).map(fieldsOf);
const bytes = (fields: Fields, number: number): Buffer =>
  Buffer.from(all<Uint8Array>(fields, number)[0] ?? new Uint8Array());
const text = (fields: Fields, number: number): string => bytes(fields, number).toString();
const hex = (fields: Fields, number: number): string => bytes(fields, number).toString("hex");
const integer = (fields: Fields, number: number): number => all<number>(fields, number)[0] ?? 0;
const nanos = (fields: Fields, number: number): bigint => all<bigint>(fields, number)[0] ?? 0n;

function valueIn(fields: Fields): Value {
  if (fields.has(1)) return text(fields, 1);
  if (fields.has(2)) return integer(fields, 2) === 1;
  if (fields.has(3)) return integer(fields, 3);
  if (fields.has(4)) {
    const double = Buffer.alloc(8);
    double.writeBigUInt64LE(nanos(fields, 4));
    return double.readDoubleLE();
  }
  return messages(fields, 5).flatMap((array) => messages(array, 1).map(valueIn));
}

const attributesOf = (fields: Fields, number: number): Record<string, Value> =>
  Object.fromEntries(
    messages(fields, number).map((pair) => [text(pair, 1), messages(pair, 2).map(valueIn)[0]]),
  );

/** The spans in a request's body. */
export const spansIn = (body: Uint8Array): ExportedSpan[] =>
  messages(fieldsOf(body), 1).flatMap((ofResource) => {
    const resource = Object.assign({}, ...messages(ofResource, 1).map((one) => attributesOf(one, 1)));
    return messages(ofResource, 2)
      .flatMap((ofScope) => messages(ofScope, 2))
      .map((span) => ({
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        parentSpanId: hex(span, 4),
        name: text(span, 5),
        kind: kinds[integer(span, 6)] ?? "unspecified",
        startNanos: nanos(span, 7),
        endNanos: nanos(span, 8),
        attributes: attributesOf(span, 9),
        links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
        failed: messages(span, 15).some((status) => integer(status, 3) === statusError),
        resource,
      }));
  });
