<?php

// Runs client.php against `npx tunerank conformance`: php certify.php http://127.0.0.1:4020 [rows at once]
declare(strict_types=1);

require __DIR__ . '/client.php';

function ask(string $url, ?array $outcome = null): object
{
    $curl = curl_init($url);
    curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true, CURLOPT_PROXY => '']);
    if ($outcome !== null) {
        curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($outcome, JSON_INVALID_UTF8_SUBSTITUTE));
    }
    $response = curl_exec($curl);
    return $response === false ? throw new RuntimeException(curl_error($curl)) : json_decode($response);
}

/** PHP makes one call at a time; libcurl knows no ports in NO_PROXY. */
const LACKS = ['parallel', 'proxy-environment'];

function clientOf(object $row, ?string $key = null): Client
{
    $keys = $row->apiKeys ?? [];
    $renewed = function () use (&$keys) {
        return count($keys) > 1 ? array_shift($keys) : $keys[0];
    };
    $names = ['maxRetries', 'timeoutMs', 'attemptTimeoutMs', 'connectTimeoutMs'];
    $options = array_intersect_key((array) $row->options, array_flip($names));
    $places = array_intersect_key((array) $row, ['proxy' => 0, 'caCertificate' => 0]);
    return new Client($row->baseUrl, $key ?? $row->apiKey ?? $renewed, ...$options, ...$places);
}

/** The arguments of a row: the bytes of a file are made of its content, or of the piece that is repeated. */
function argumentsOf(object $row): object
{
    $file = $row->arguments->file ?? null;
    if ($file !== null) {
        $piece = isset($file->base64) ? base64_decode($file->base64) : $file->content;
        $bytes = $file->bytes ?? strlen($piece);
        $file->content = $bytes === 0 ? '' : substr(str_repeat($piece, intdiv($bytes, strlen($piece)) + 1), 0, $bytes);
    }
    return $row->arguments;
}

/** Starts this program anew for a row, as often as it asks for. */
function outcomeInPrograms(object $row): array
{
    for ($program = 0; $program < $row->programs; $program++) {
        $process = proc_open([PHP_BINARY, __FILE__], [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
        fwrite($pipes[0], json_encode($row));
        fclose($pipes[0]);
        $outcome = json_decode(stream_get_contents($pipes[1]), true);
        proc_close($process);
    }
    return $outcome;
}

function outcomeOf(object $row): array
{
    [$arguments, $repeatable] = [argumentsOf($row), $row->options->repeatable ?? null];
    $keys = array_unique($row->keyPerCall ?? []);
    $clients = array_combine($keys, array_map(fn ($key) => clientOf($row, $key), $keys));
    for ($made = 0; $made < $row->calls; $made++) {
        if (isset($row->keyPerCall)) {
            $client = $clients[$row->keyPerCall[$made]];
        } elseif ($made === 0 || isset($row->newClientPerCall)) {
            $client = clientOf($row);
        }
        $abortAt = now() + ($row->options->abortAfterMs ?? INF);
        $isAborted = $abortAt === INF ? null : fn () => now() >= $abortAt;
        try {
            [$value, $attempts] = $client->call($row->operation, $arguments, $repeatable, $isAborted);
            $value = is_string($value) ? base64_encode($value) : $value;
            $outcome = ['value' => $value, 'attempts' => $attempts, 'capabilities' => ['unknown-members', 'int64']];
        } catch (ServiceError $error) {
            $outcome = [
                'code' => $error->name,
                'executed' => $error->executed,
                'executedBecause' => $error->because,
                'attempts' => $error->attempts,
                'retryAfterMs' => $error->retryAfterMs,
                'message' => $error->getMessage(),
                'inferred' => $error->inferred,
                'codeSource' => $error->codeSource,
                'notRetried' => $error->notRetried,
                'text' => $error . json_encode($error),
            ];
        }
    }
    return $outcome;
}

function work(string $runner): void
{
    while (!isset(($row = ask("$runner/next"))->done)) {
        $lacking = array_intersect($row->needs, LACKS);
        $outcome = match (true) {
            $lacking !== [] => ['skipped' => current($lacking)],
            isset($row->programs) => outcomeInPrograms($row),
            default => outcomeOf($row),
        };
        ask("$runner/outcome", ['id' => $row->id] + $outcome);
    }
}

if (!isset($argv[1])) { // One row, of which another program asks for the outcome.
    exit(json_encode(outcomeOf(json_decode(stream_get_contents(STDIN)))));
}
[, $runner, $rowsAtOnce] = $argv + [2 => '16'];
for ($n = 1; $n < (int) $rowsAtOnce && pcntl_fork() !== 0; $n++);
work($runner);
while (pcntl_wait($status) > 0) {
    pcntl_wexitstatus($status) === 0 || exit(1);
}
