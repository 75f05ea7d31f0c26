import { headers } from "@nats-io/transport-node";
import { CloudEvent } from "cloudevents";
import fc from "fast-check";
import { expect, test } from "vitest";
import { controllerOf } from "../kube/object.ts";
import { attribute, fromMessage, toMessage } from "./binding.ts";
import { changedObject, changeHead, MalformedEventError } from "./received.ts";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });

test("binding - any event survives as a NATS message, and its headers are printable ASCII", () => {
  fc.assert(
    fc.property(text, text, fc.jsonValue(), (id, subject, data) => {
      const event = new CloudEvent({
        id,
        subject,
        source: "/a/b",
        type: "t",
        datacontenttype: "application/json",
        data,
      });
      const message = toMessage(event);
      for (const name of message.headers.keys()) expect(message.headers.get(name)).toMatch(/^[!-~]*$/);
      expect(attribute(message.headers, "id")).toBe(id);
      const back = fromMessage({ headers: message.headers, string: () => message.data });
      expect(back).toMatchObject({ id, subject, source: "/a/b", type: "t", specversion: "1.0" });
      expect(JSON.stringify(back.data)).toBe(JSON.stringify(data));
    }),
  );
});

test("binding - writes attributes as ce- headers, including the content type of the data", () => {
  const event = new CloudEvent({
    id: "1",
    source: "/s",
    type: "t",
    datacontenttype: "application/json",
    data: {},
  });
  const message = toMessage(event);
  expect(message.headers.get("ce-datacontenttype")).toBe("application/json");
  expect(message.headers.get("ce-specversion")).toBe("1.0");
  expect(message.headers.has("content-type")).toBe(false);
});

test("binding - the SDK rejects a message without the required attributes", () => {
  expect(() => fromMessage({ headers: headers(), string: () => "{}" })).toThrow();
});

/** Header values that the wire can carry. */
const value = fc.oneof(
  fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, " ")),
  fc.stringMatching(/^(%[0-9a-fA-F]{0,2}|[a-z.]){0,10}$/),
);
const garbage = fc.dictionary(
  fc.constantFrom(
    "ce-id",
    "ce-type",
    "ce-source",
    "ce-specversion",
    "ce-time",
    "ce-data",
    "ce-x",
    "ce-",
    "id",
  ),
  value,
);
const data = fc.oneof(
  fc.constantFrom("", "null", "[]", "{}", '{"metadata":null}', '{"metadata":{"ownerReferences":5}}', "{"),
  fc.string({ maxLength: 50 }),
  fc.json(),
);
const headersOf = (values: Record<string, string>) => {
  const all = headers();
  for (const [name, text] of Object.entries(values)) all.set(name, text);
  return all;
};

test("binding - returns an attribute with a broken escape unchanged", () => {
  expect(attribute(headersOf({ "ce-id": "%E0%A4%A" }), "id")).toBe("%E0%A4%A");
  fc.assert(
    fc.property(value, (text) => {
      expect(typeof attribute(headersOf({ "ce-id": text }), "id")).toBe("string");
    }),
  );
});

test("binding - reads garbage as a valid event or throws an error that says what is wrong", () => {
  fc.assert(
    fc.property(garbage, data, (values, text) => {
      try {
        const event = fromMessage({ headers: headersOf(values), string: () => text });
        expect(event.validate()).toBe(true);
      } catch (error) {
        expect(["ValidationError", "SyntaxError"]).toContain((error as Error).constructor.name);
      }
    }),
  );
});

test("change event - reads garbage as a usable head and object, or throws a MalformedEventError", () => {
  const versions = { "ce-id": "uid-1.7", "ce-type": "dev.denrei.kubernetes.added" };
  const sometimesGood = fc.tuple(garbage, fc.boolean()).map(([bad, good]) => (good ? versions : bad));
  fc.assert(
    fc.property(sometimesGood, data, (values, text) => {
      try {
        const { resourceVersion } = changeHead(headersOf(values));
        expect(resourceVersion).toMatch(/^\d+$/);
        const object = changedObject(text);
        expect(typeof object.metadata.name).toBe("string");
        controllerOf(object);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedEventError);
      }
    }),
  );
});
