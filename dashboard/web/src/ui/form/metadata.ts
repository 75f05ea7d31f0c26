/** Names of objects: RFC 1123 subdomains. */
import { z } from "zod";

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const expected = "Use lowercase letters, digits, and dashes. Start and end with a letter or digit.";

/** Schema of the metadata of a new namespaced object. */
export const newMetadata = (longest: number) =>
  z.object({
    name: z
      .string("Enter a name.")
      .regex(dnsName, expected)
      .max(longest, `Use at most ${longest} characters.`),
    namespace: z.string("Enter a namespace.").regex(dnsName, expected).max(63),
  });
