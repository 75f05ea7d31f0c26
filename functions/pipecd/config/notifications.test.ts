import { expect, test } from "vitest";
import type { NotificationRoute } from "../kinds/notifications.ts";
import type { Profile } from "../profile.ts";
import { notificationsOf } from "./notifications.ts";
import { ConfigError, Problems } from "./problems.ts";

/** The rendered route with the given fields. Throws a `ConfigError` if it is invalid. */
function routeOf(profile: Profile, fields: Partial<NotificationRoute>) {
  const problems = new Problems(profile, profile === "L0" ? "v0.9.0" : "v0.57.0");
  const { routes } = notificationsOf(
    {
      routes: [{ name: "x", receiver: "y", ...fields }],
      receivers: [{ name: "y", webhook: { url: "https://hooks.example.com" } }],
    },
    problems,
  );
  problems.throwIfAny();
  return routes?.[0];
}

const path = "spec.config.notifications.routes[0]";

test("keeps environments up to v0.9.0", () => {
  expect(routeOf("L0", { envs: ["a", "b"], ignoreEnvs: ["c"] })).toEqual({
    name: "x",
    receiver: "y",
    envs: ["a", "b"],
    ignoreEnvs: ["c"],
  });
});

test("turns an environment into a label from v0.37.1", () => {
  expect(routeOf("C", { envs: ["a"], ignoreEnvs: ["c"], labels: { team: "t" } })).toEqual({
    name: "x",
    receiver: "y",
    labels: { env: "a", team: "t" },
    ignoreLabels: { env: "c" },
  });
  expect(routeOf("C", { envs: ["a"], labels: { env: "a" } })).toMatchObject({ labels: { env: "a" } });
});

test("keeps labels without an environment", () => {
  expect(routeOf("C", { envs: [], labels: { b: "", a: "1" } })).toEqual({
    name: "x",
    receiver: "y",
    labels: { a: "1", b: "" },
  });
  expect(routeOf("C", {})).toEqual({ name: "x", receiver: "y" });
});

test("rejects several environments from v0.37.1", () => {
  expect(() => routeOf("C", { envs: ["a", "b"], ignoreEnvs: ["c", "d"] })).toThrow(
    new ConfigError(
      ["envs", "ignoreEnvs"].map(
        (field) =>
          `${path}.${field}: expected at most one environment from PipeCD v0.37.1: create one route for each`,
      ),
    ),
  );
});

test("rejects an environment that differs from the label env", () => {
  expect(() => routeOf("C", { envs: ["a"], labels: { env: "b" } })).toThrow(
    new ConfigError([`${path}: envs and the label env of labels differ`]),
  );
});
