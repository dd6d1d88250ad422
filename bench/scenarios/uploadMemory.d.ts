/** Measures the package whose built index.js is `entry`; every figure has its samples. */
export function measure(options: {
  entry?: string;
  contestants?: string[];
  rounds?: number;
}): Promise<Record<string, number[]>>;
