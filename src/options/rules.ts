/** The rules of a value, in the keywords of JSON Schema that the contract's requests use. */
export interface Rules {
  /** The type in JSON Schema; any type if absent. */
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  /** The form that `pattern` stands for, in words. A pattern without a form is left to the service. */
  readonly form?: string | undefined;
  /** Whether `enum` is left to the service, which may accept other values. */
  readonly "x-open"?: boolean;
  readonly format?: "date-time";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Rules;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly additionalProperties?: boolean | Rules;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  /** The rules of an object by the value of one of its fields, the discriminator. */
  readonly oneOf?: { readonly propertyName: string; readonly variants: Readonly<Record<string, Rules>> };
  /** Fields that may not all be given at once. */
  readonly not?: { readonly required: readonly string[] };
  /** The largest size of a file, in bytes. */
  readonly "x-max-bytes"?: number;
}

/** A value while it is checked: its name in messages, all its rules, and the function that checks a part of it. */
export interface Place {
  readonly name: string;
  readonly rules: Rules;
  readonly validate: (value: unknown, rules: Rules, name: string) => void;
}
