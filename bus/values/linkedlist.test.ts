import fc from "fast-check";
import { expect, test } from "vitest";
import { LinkedList, type ListNode } from "./linkedlist.ts";

test("LinkedList - behaves like an array, whatever is added and removed", () => {
  const steps = fc.array(fc.oneof(fc.constant("append" as const), fc.nat(20)), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (steps) => {
      const list = new LinkedList<number>();
      const nodes: ListNode<number>[] = [];
      for (const [at, step] of steps.entries()) {
        if (step === "append") nodes.push(list.append(at));
        else for (const node of nodes.splice(step, 1)) list.remove(node);
        const values = nodes.map(({ value }) => value);
        expect([...list]).toEqual(values);
        expect([list.size, list.first]).toEqual([values.length, values[0]]);
      }
    }),
  );
});
