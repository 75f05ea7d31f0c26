import { headers } from "@nats-io/transport-node";
import { CloudEvent } from "cloudevents";
import fc from "fast-check";
import { expect, test } from "vitest";
import { attribute, fromMessage, toMessage } from "./binding.ts";

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

test("binding - attributes are ce- headers, the content type of the data among them", () => {
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

test("binding - a message without the required attributes is refused by the SDK", () => {
  expect(() => fromMessage({ headers: headers(), string: () => "{}" })).toThrow();
});
