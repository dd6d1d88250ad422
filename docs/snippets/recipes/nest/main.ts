import "reflect-metadata";
import {
  Body,
  Controller,
  HttpCode,
  HttpException,
  Inject,
  Module,
  Post,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import {
  type Client,
  createClient,
  isStatusError,
  type RerankRequest,
  type RerankResponse,
} from "tunerank";

const CLIENT = Symbol("tunerank");

@Controller()
class SearchController {
  constructor(@Inject(CLIENT) private readonly client: Client) {}

  @Post("search")
  @HttpCode(200)
  async search(@Body() body: RerankRequest): Promise<RerankResponse> {
    const { query, documents } = body;
    try {
      return await this.client.rerank({ query, documents });
    } catch (error) {
      if (!isStatusError(error)) throw error;
      console.error(error.message);
      const status = error.code === "INVALID_ARGUMENT" ? 400 : 502;
      throw new HttpException({ code: error.code }, status);
    }
  }
}

@Module({
  controllers: [SearchController],
  providers: [{ provide: CLIENT, useFactory: () => createClient() }],
})
class SearchModule {}

async function start(): Promise<void> {
  const app = await NestFactory.create(SearchModule, { logger: false });
  await app.listen(process.env.PORT ?? 3000);
  console.log(app.getHttpServer().address().port);
}

void start();
