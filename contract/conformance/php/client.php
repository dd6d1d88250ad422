<?php

// A client of the service on ext-curl (PHP 8.2), written from ../README.md. Every figure is one of ../*.json.
declare(strict_types=1);

require __DIR__ . '/attempt.php';
require __DIR__ . '/response.php';

define('PARAMETERS', json_decode(file_get_contents(__DIR__ . '/../parameters.json'), true));
define('OPERATIONS', json_decode(file_get_contents(__DIR__ . '/../operations.json'), true)['operations']);

/** A failure of an attempt; that of the last is the call's. */
final class ServiceError extends Exception
{
    public int $attempts = 0;
    public string $executed = 'no';

    /**
     * @param string   $because    what `executed` is based on
     * @param string[] $events     what happened; "ended" if the caller or the deadline ended the call
     * @param bool     $wasIdle    whether a connection was lost that had served a call
     */
    public function __construct(
        public readonly string $name,
        string $text,
        public string $because,
        public readonly array $events,
        public readonly string $codeSource = 'client',
        public readonly bool $inferred = true,
        public readonly ?float $retryAfterMs = null,
        public readonly int $status = 0,
        public readonly bool $wasIdle = false,
        public ?string $notRetried = null,
    ) {
        parent::__construct("[$name] $text");
    }
}

/** A client. Its connections and its budget are for all its calls. */
final class Client
{
    private const EXECUTED = [
        'nothing-sent' => 'no',
        'refused' => 'no',
        'no-answer' => 'unknown',
        'unclear-answer' => 'unknown',
        'success-began' => 'yes',
    ];
    private CurlMultiHandle $connections;
    private int $budgetTenths = PARAMETERS['budget']['retries'] * 10;
    /** @var string[] every key that was used, which no error shows */
    private array $keys = [];

    /** @param string|Closure $key a text, or a function that is called before every attempt */
    public function __construct(
        private string $baseUrl,
        #[SensitiveParameter] private string|Closure $key,
        private int $maxRetries = PARAMETERS['maxRetries'],
        private ?float $timeoutMs = null,
        private ?float $attemptTimeoutMs = null,
        private int $connectTimeoutMs = PARAMETERS['deadlines']['connectTimeoutMs'],
        private string $proxy = '',
        private ?string $caCertificate = null,
    ) {
        $this->connections = curl_multi_init();
    }

    /**
     * Makes a call.
     *
     * @param object       $arguments as in operations.json; the content of a file is its bytes
     * @param Closure|null $isAborted whether the caller wants the call to end; asked every few milliseconds
     * @return array the value, and how many attempts it took
     * @throws ServiceError
     */
    public function call(
        string $operation,
        object $arguments,
        ?bool $repeatable = null,
        ?Closure $isAborted = null,
    ): array {
        $safe = $repeatable ?? OPERATIONS[$operation]['repeatable'];
        $column = $repeatable === null ? $operation : ($safe ? 'rerankDocuments' : 'resumeReinforcementFineTuningJob');
        $figures = PARAMETERS['deadlines'];
        $fileMs = strlen($arguments->file->content ?? '') * 1000 / $figures['uploadBytesPerSecond'];
        $timeoutMs = $this->timeoutMs ?? $figures['timeoutMs'][$operation] + $fileMs;
        $share = $figures['attemptShare'][$safe && $this->maxRetries > 0 ? 'repeatable' : 'else'];
        $attemptMs = $this->attemptTimeoutMs ?? $timeoutMs * $share;
        $deadline = now() + $timeoutMs;
        [$wait, $attempts, $because, $isRenewed, $isFresh, $isFree] = [0.0, 0, 'nothing-sent', false, !$safe, true];
        while (true) {
            try {
                pause($wait, $isAborted);
                $attempt = $this->attemptOf($operation, $arguments, $isFresh);
                $attempts++;
                $attempt->run($this->connections, now() + $attemptMs, $deadline, $isAborted);
                $value = readResponse($operation, $attempt, $this->keys);
                $this->budgetTenths = min(tenths('retries'), $this->budgetTenths + tenths('successGain'));
                return [$value, $attempts];
            } catch (ServiceError $error) {
                $error->because = $because = $this->worse($because, $error->because);
                $wait = $this->waitAfter($error, $attempts - 1);
                $error->notRetried ??= $this->whyNot($error, $attempts - 1, $column, $safe, $isRenewed);
                $error->notRetried ??= now() + $wait >= $deadline ? 'deadline-too-close' : null;
                if ($error->notRetried !== null) {
                    [$error->attempts, $error->executed] = [$attempts, self::EXECUTED[$because]];
                    throw $error;
                }
            }
            $isRenewed = $isRenewed || in_array('unauthenticated', $error->events, true);
            $isFresh = $isFresh || $error->wasIdle || $error->status === 421;
            // One retry of a call is free: after the loss of a connection that had served a call.
            $this->budgetTenths -= $isFree && $error->wasIdle ? 0 : tenths('retryCost');
            $isFree = $isFree && !$error->wasIdle;
        }
    }

    /** Of attempts that are equally bad the last counts; only nothing-sent never takes the place of refused. */
    private function worse(string $before, string $last): string
    {
        $rank = fn (string $one) => array_search(self::EXECUTED[$one], PARAMETERS['executed']['order'], true);
        $keeps = $rank($before) > $rank($last) || ($before === 'refused' && $last === 'nothing-sent');
        return $keeps ? $before : $last;
    }

    private function waitAfter(ServiceError $error, int $retries): float
    {
        $backoff = PARAMETERS['backoff'];
        $base = $backoff[$error->name === 'RESOURCE_EXHAUSTED' ? 'exhaustedBaseMs' : 'baseMs'];
        $most = min($backoff['capMs'], $base * $backoff['factor'] ** max(0, $retries));
        $random = in_array('unauthenticated', $error->events, true) ? 0 : random_int(0, $most * 1000) / 1000;
        return (float) max($random, $error->retryAfterMs);
    }

    /** Why there is no other attempt, the deadline aside. */
    private function whyNot(ServiceError $error, int $retries, string $column, bool $safe, bool $isRenewed): ?string
    {
        $rows = array_map(fn ($event) => PARAMETERS['events'][$event]['retries'], $error->events);
        $most = fn (string $of) => min(array_column($rows, $of));
        $renews = in_array('unauthenticated', $error->events, true);
        $ran = array_filter($error->events, fn ($event) => PARAMETERS['events'][$event]['executed'] !== 'no');
        $unsafe = $ran === [] ? 'no-retry-after' : 'not-safe';
        return match (true) {
            in_array('refused', $error->events, true) => 'refused',
            $most($column) === 0 => $most('rerankDocuments') > 0 && !$safe ? $unsafe : 'not-transient',
            $renews && ($isRenewed || is_string($this->key)) => $retries === 0 ? 'refused' : 'retries-used-up',
            $error->retryAfterMs > PARAMETERS['retryAfter']['longestMs'] => 'asked-to-wait-too-long',
            $retries >= $this->maxRetries, !$renews && $retries >= $most($column) => 'retries-used-up',
            $this->budgetTenths < tenths('retryCost') => 'budget',
            default => null,
        };
    }

    private function attemptOf(string $operation, object $arguments, bool $isFresh): Attempt
    {
        $row = OPERATIONS[$operation];
        $key = is_string($this->key) ? $this->key : ($this->key)();
        $this->keys = array_unique([...$this->keys, $key]);
        [$url, $headers, $body] = requestOf($row, $arguments);
        $options = [
            CURLOPT_URL => rtrim($this->baseUrl, '/') . $url,
            CURLOPT_CUSTOMREQUEST => $row['method'],
            CURLOPT_NOBODY => $row['method'] === 'HEAD',
            CURLOPT_HTTPHEADER => ["Authorization: Bearer $key", 'Expect:', ...$headers],
            CURLOPT_CONNECTTIMEOUT_MS => $this->connectTimeoutMs,
            CURLOPT_PROXY => $this->proxy,
            CURLOPT_NOPROXY => '',
            CURLOPT_HTTPPROXYTUNNEL => true, // For http, too: a proxy must not see the key.
            // libcurl itself repeats a request without a body that an idle connection lost.
            CURLOPT_FRESH_CONNECT => $isFresh || $body === null,
            CURLOPT_FORBID_REUSE => $isFresh,
        ];
        $trust = $this->caCertificate === null ? [] : [CURLOPT_CAINFO_BLOB => $this->caCertificate];
        return new Attempt($body, $options + $trust, PARAMETERS['answers']['maxBytes'][$operation]);
    }
}

function tenths(string $figure): int
{
    return (int) round(PARAMETERS['budget'][$figure] * 10);
}

/** The path with its query, the headers and the body of a request; null for no body. */
function requestOf(array $row, object $arguments): array
{
    [$query, $headers, $body] = ['', [], null];
    $path = preg_replace_callback('/{(\w+)}/', fn ($place) => idOf($arguments->{$place[1]}), $row['path']);
    foreach ($row['query'] ?? [] as $name) {
        foreach (textsOf($arguments, $name) as $text) {
            $query .= ($query === '' ? '?' : '&') . rawurlencode($name) . '=' . rawurlencode($text);
        }
    }
    foreach ($row['headers'] ?? [] as $name) {
        foreach (textsOf($arguments, $name) as $text) {
            $headers[] = "$name: $text";
        }
    }
    if (isset($row['part'])) {
        $boundary = bin2hex(random_bytes(16));
        $name = preg_replace('~^.*[/\\\\]~s', '', $arguments->file->name);
        $name = str_replace(['"', "\r", "\n"], ['%22', '%0D', '%0A'], $name);
        $disposition = "Content-Disposition: form-data; name=\"{$row['part']}\"; filename=\"$name\"";
        $head = "--$boundary\r\n$disposition\r\nContent-Type: application/octet-stream\r\n\r\n";
        $body = "$head{$arguments->file->content}\r\n--$boundary--\r\n";
        $headers[] = "Content-Type: multipart/form-data; boundary=$boundary";
    } elseif (isset($row['contentType'])) {
        $body = json_encode($arguments->body, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR);
        $headers[] = "Content-Type: {$row['contentType']}";
    }
    return [$path . $query, $headers, $body];
}

/** An id in a path. @throws ServiceError for one that leads to another resource */
function idOf(string $id): string
{
    if (in_array($id, ['', '.', '..'], true)) {
        throw new ServiceError('INVALID_ARGUMENT', "No id may be \"$id\".", 'nothing-sent', ['refused']);
    }
    return rawurlencode($id);
}

/** @return string[] the texts of an argument, which may be a list or missing */
function textsOf(object $arguments, string $name): array
{
    $given = $arguments->$name ?? [];
    return array_map(fn ($one) => is_string($one) ? $one : json_encode($one), is_array($given) ? $given : [$given]);
}
