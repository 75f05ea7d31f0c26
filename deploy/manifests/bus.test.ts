import { expect, test } from "vitest";
import { namespaceOfBus } from "./bus.ts";

test.each([
  ["tls://nats.denrei:4222", "denrei"],
  ["nats.post-office.svc", "post-office"],
  ["tls://nats.denrei.svc.cluster.local:4222/", "denrei"],
  ["tls://nats.denrei:4222, tls://nats.denrei.svc:4222", "denrei"],
  ["tls://nats.denrei:4222,tls://nats.other:4222", undefined],
  ["tls://nats.denrei:4222,tls://bus.example.com:4222", undefined],
  ["tls://nats.example.com:4222", undefined],
  ["tls://bus.example:4222", undefined],
  ["tls://nats:4222", undefined],
  ["tls://10.0.0.7:4222", undefined],
])("the servers of %s are in the namespace %s", (url, namespace) => {
  expect(namespaceOfBus(url)).toBe(namespace);
});
